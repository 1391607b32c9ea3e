"""Forms of pages, found by following links and filled in by the kinds of their fields."""

import random
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urljoin

from lxml import html

# Tokens that each page has anew.
UNSEEN = {"csrfmiddlewaretoken", "once"}
WORDS = ("Because.", "Well done.", "It is not so.", "42", "")
ROW = re.compile(r"/\d+(?=/|$)|/[0-9a-f-]{16,}(?=/|$)")
NUMBER = re.compile(r"[0-9]+(\.[0-9]+)?")
AMOUNTS = ("0.10", "0.10", "1.00", "6.50", "90.00")
Fields = list[tuple[str, str]]


@dataclass(frozen=True)
class Form:
    """A form as somebody is about to send it: by whose browser, from which page, to where.

    shown: what the page shows in it before anybody types.
    """

    browser: Any
    page: str
    action: str
    fields: Fields
    shown: str

    @property
    def kind(self) -> str:
        """Return the address without what names a row."""
        return kind_of(self.action)

    def but(self, **fields: str) -> "Form":
        """Return it with some of its fields filled in otherwise."""
        return replace(self, fields=[*{**dict(self.fields), **fields}.items()])

    def send(self) -> Any:
        """Return what the site answers; where it asks whether that is meant, it is."""
        reply = self._post(self.fields)
        # A page that was refused is looked at first.
        for form in _forms_in(reply) if reply.status_code == 200 else ():
            shown = [(name, value or "Because.") for name, value in form.form_values()]
            if form.action == self.action and {*dict(shown)} - {*dict(self.fields)} - UNSEEN:
                return self._post([*shown, *_buttons(form)[:1]])
        return reply

    def _post(self, fields: Fields) -> Any:
        from django.http import QueryDict

        body = QueryDict(mutable=True)
        for name, value in fields:
            body.appendlist(name, value)
        return self.browser.post(
            self.action, body.urlencode(), content_type="application/x-www-form-urlencoded"
        )


def forms_of(
    browser: Any, page: str, rng: random.Random, never: "re.Pattern[str]"
) -> tuple[list[Form], list[str]]:
    """Return the forms of a page, filled in, and the addresses that it links to."""
    reply = browser.get(page, follow=True)
    query = reply.request["QUERY_STRING"]
    at = reply.request["PATH_INFO"]
    found = [
        Form(
            browser,
            f"{at}?{query}" if query else at,
            (form.action or at).split("?")[0],
            filled(form, rng),
            repr([each for each in form.form_values() if each[0] not in UNSEEN]),
        )
        for form in _forms_in(reply)
    ]
    root = _read(reply)
    near = [] if root is None else [urljoin(at, each) for each in root.xpath("//a/@href")]
    links = {each.partition("#")[0] for each in near if each.startswith("/")}
    return [form for form in found if not never.search(form.action)], sorted(links)


def _read(reply: Any) -> Any:
    """Return a page as a tree, None for what is none."""
    if reply.is_streamed or "html" not in reply.headers.get("Content-Type", ""):
        return None
    text = reply.content.decode("utf-8", "replace")
    return html.fromstring(text) if text else None


def _forms_in(reply: Any) -> list[Any]:
    """Return the forms of a page that send something."""
    root = _read(reply)
    return [] if root is None else [form for form in root.forms if form.method == "POST"]


def _buttons(form: Any) -> Fields:
    return [
        (each.get("name"), each.get("value", ""))
        for each in form.iter("button")
        if each.get("name") and each.get("type", "submit") == "submit"
    ]


def words(rng: random.Random) -> str:
    """Return what somebody types: words, a name that nobody has yet, or nothing."""
    return rng.choice((*WORDS, f"Number {rng.randrange(10_000)}"))


def near(value: str, rng: random.Random) -> str:
    """Return another number than one that stands in a field."""
    number = float(value)
    others = (0, number + 1, number + 1, 2 * number, 2 * number, 10 * number)
    return rng.choice([*(f"{each:.10g}" for each in others), 30 * "9"])


def filled(form: Any, rng: random.Random) -> Fields:
    """Return a form's fields: kept as they are, drawn among choices, or a few words.

    Where there are many, as among settings, one or two are changed.
    """
    fields: Fields = []
    radios = defaultdict(list)
    share = min(0.3, 1.5 / max(1, len(form.inputs)))
    for field in form.inputs:
        # An input that names no type takes text.
        kind = field.get("type", "text" if field.tag == "input" else field.tag)
        if not field.name or field.get("disabled") is not None:
            continue
        value = field.get("value", "")
        if kind == "radio":
            chosen = field.checked and rng.random() >= share
            # What is chosen stays mostly so.
            radios[field.name] += [field.get("value", "on")] * (20 if chosen else 1)
        elif kind == "checkbox":
            if field.checked != (rng.random() < 0.4):
                fields.append((field.name, field.get("value", "on")))
        elif kind == "hidden":
            fields.append((field.name, value))
        elif kind == "select":
            options = [option.get("value", option.text) for option in field.iter("option")]
            if options and not (field.value and rng.random() >= share):
                fields.append((field.name, rng.choice(options) or ""))
            elif options:
                fields.append((field.name, field.value))
        elif kind in ("number", "text", "textarea", "search", "email"):
            own = field.value or ""
            if own and rng.random() >= share:
                fields.append((field.name, own))
            elif kind == "email":
                fields.append((field.name, f"{rng.randrange(100)}@example.org"))
            elif re.search("cents|amount|dollars|reward|budget", field.name):
                fields.append((field.name, rng.choice(AMOUNTS)))
            elif kind == "number" or field.get("inputmode") == "numeric" or NUMBER.fullmatch(own):
                fields.append((field.name, near(own or rng.choice("1259"), rng)))
            elif kind == "textarea":
                fields.append((field.name, f"{own} {words(rng) or 'Because.'}".strip()))
            else:
                needed = field.get("required") is not None
                fields.append((field.name, words(rng) or ("Because." if needed else "")))
    fields += [(name, rng.choice(values)) for name, values in radios.items()]
    buttons = _buttons(form)
    return fields + ([rng.choice(buttons)] if buttons else [])


def kind_of(address: str) -> str:
    """Return an address without what names a row, and without the values of its query."""
    path, _, query = address.partition("?")
    return "?".join([ROW.sub("/#", path), *sorted({*re.findall(r"(\w+)=", query)})])


class Ways:
    """The pages and forms of a site that one has met there; those known least come next.

    sent: how often a form of each kind was sent, by whomever.
    """

    def __init__(self, browser: Any, never: "re.Pattern[str]", sent: Counter[str]) -> None:
        self.browser, self.never, self.sent = browser, never, sent
        self.n_read: Counter[str] = Counter()
        # By kind, the latest last.
        self.pages: dict[str, list[str]] = {}
        self.forms: dict[str, list[str]] = {}

    def read(self, pages: list[str], prefix: str, rng: random.Random) -> list[Form]:
        """Return the forms of one of `pages`, and note where it leads below `prefix`."""
        page = rng.choice(pages[-4:])
        self.n_read[kind_of(page)] += 1
        forms, links = forms_of(self.browser, page, rng, self.never)
        self.meet([link for link in links if link.startswith(prefix)])
        for form in forms:
            self.forms[form.kind] = _with_last(self.forms.get(form.kind, []), page)
        return forms

    def meet(self, pages: list[str]) -> None:
        """Note pages that one may read."""
        for page in pages:
            self.pages[kind_of(page)] = _with_last(self.pages.get(kind_of(page), []), page)

    def least_sent(self, prefix: str, rng: random.Random, how: str = "") -> Form | None:
        """Read a page of a kind that was read least; return a form that was sent least."""
        for _ in range(2):
            self.read(self.pages[_least([*self.pages], self.n_read, "", rng)], prefix, rng)
        while kinds := [kind for kind, pages in self.forms.items() if pages]:
            kind = _least(kinds, self.sent, how, rng)
            pages = self.forms[kind]
            found = self.read([pages.pop(-rng.randint(1, min(4, len(pages))))], prefix, rng)
            if forms := [form for form in found if form.kind == kind]:
                self.sent[how + kind] += 1
                return rng.choice(forms)
        return None


def _with_last(pages: list[str], page: str) -> list[str]:
    return [*(each for each in pages if each != page), page]


def _least(kinds: list[str], counted: Counter[str], how: str, rng: random.Random) -> str:
    least = min(counted[how + kind] for kind in kinds)
    return rng.choice(sorted(kind for kind in kinds if counted[how + kind] == least))
