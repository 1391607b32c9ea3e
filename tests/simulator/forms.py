"""Forms of pages, found by following links and filled in by the kinds of their fields."""

import random
import re
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from lxml import html

# Tokens that each page has anew.
UNSEEN = {"csrfmiddlewaretoken", "once"}
LINK = re.compile(r'<a [^>]*href="(/[^"#?]*)')
WORDS = ("Because.", "Well done.", "It is not so.", "42", "")
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
        return re.sub(r"/\d+(?=/|$)|/[0-9a-f-]{16,}(?=/|$)", "/#", self.action)

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
    at = reply.request["PATH_INFO"]
    found = [
        Form(
            browser,
            at,
            (form.action or at).split("?")[0],
            filled(form, rng),
            repr([each for each in form.form_values() if each[0] not in UNSEEN]),
        )
        for form in _forms_in(reply)
    ]
    links = set() if reply.is_streamed else {*LINK.findall(reply.content.decode(errors="replace"))}
    return [form for form in found if not never.search(form.action)], sorted(links)


def _forms_in(reply: Any) -> list[Any]:
    """Return the forms of a page that send something."""
    if reply.is_streamed or "html" not in reply.headers.get("Content-Type", ""):
        return []
    text = reply.content.decode("utf-8", "replace")
    return [form for form in html.fromstring(text).forms if form.method == "POST"] if text else []


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
    others = (0, number + 1, number + 1, 2 * number, 2 * number, 10 * number, 10**30)
    return f"{rng.choice(others):.10g}"


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
            radios[field.name].append(field.get("value", "on"))
        elif kind == "checkbox":
            if rng.random() < 0.5:
                fields.append((field.name, field.get("value", "on")))
        elif kind == "hidden":
            fields.append((field.name, value))
        elif kind == "select":
            options = [option.get("value", option.text) for option in field.iter("option")]
            if options:
                fields.append((field.name, rng.choice(options) or ""))
        elif kind in ("number", "text", "textarea", "search", "email"):
            own = field.value or ""
            if own and rng.random() >= share:
                fields.append((field.name, own))
            elif re.search("cents|amount|dollars|pay|budget", field.name):
                fields.append((field.name, rng.choice(AMOUNTS)))
            elif NUMBER.fullmatch(own):
                fields.append((field.name, near(own, rng)))
            else:
                needed = field.get("required") is not None
                fields.append((field.name, words(rng) or ("Because." if needed else "")))
    fields += [(name, rng.choice(values)) for name, values in radios.items()]
    buttons = _buttons(form)
    return fields + ([rng.choice(buttons)] if buttons else [])


def follow(
    read: Callable[[str], tuple[list[Form], list[str]]],
    pages: list[str],
    prefix: str,
    rng: random.Random,
) -> list[Form]:
    """Return the forms of a page that is reached by up to two links from one of `pages`."""
    page = rng.choice(pages)
    forms, links = read(page)
    for _ in range(rng.choice((0, 1, 1, 2))):
        inside = [link for link in links if link.startswith(prefix)]
        if not inside:
            break
        forms, links = read(rng.choice(inside))
    return forms
