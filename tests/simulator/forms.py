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
WORDS = ("Because.", "Well done.", "It is not so.", "42", "")
AMOUNTS = ("0.10", "0.10", "1.00", "6.50", "90.00")
Fields = list[tuple[str, str]]


@dataclass(frozen=True)
class Form:
    """A form as somebody is about to send it: by whose browser, to where, with what.

    shown: what the page shows in it before anybody types.
    """

    browser: Any
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
        """Return what the site answers."""
        from django.http import QueryDict

        body = QueryDict(mutable=True)
        for name, value in self.fields:
            body.appendlist(name, value)
        return self.browser.post(
            self.action, body.urlencode(), content_type="application/x-www-form-urlencoded"
        )


def forms_of(
    browser: Any, page: str, rng: random.Random, never: "re.Pattern[str]"
) -> tuple[list[Form], list[str]]:
    """Return the forms of a page, filled in, and the addresses that it links to."""
    reply = browser.get(page, follow=True)
    text = reply.content.decode("utf-8", "replace")
    if reply.is_streamed or "html" not in reply.headers.get("Content-Type", "") or not text:
        return [], []
    tree = html.fromstring(text)
    links = {link.split("#")[0].split("?")[0] for link in tree.xpath("//a/@href")}
    at = reply.request["PATH_INFO"]
    found = [
        Form(
            browser,
            (form.action or at).split("?")[0],
            filled(form, rng),
            repr([each for each in form.form_values() if each[0] not in UNSEEN]),
        )
        for form in tree.forms
        if form.method == "POST"
    ]
    allowed = [form for form in found if not never.search(form.action)]
    return allowed, sorted(link for link in links if link.startswith("/"))


def words(rng: random.Random) -> str:
    """Return what somebody types: words, a name that nobody has yet, or nothing."""
    return rng.choice((*WORDS, f"Number {rng.randrange(10_000)}"))


def filled(form: Any, rng: random.Random) -> Fields:
    """Return a form's fields: kept as they are, drawn among choices, or a few words."""
    fields: Fields = []
    radios = defaultdict(list)
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
        elif kind in ("number", "text") and re.search(
            "cents|amount|dollars|pay|budget", field.name
        ):
            fields.append((field.name, rng.choice([value, *AMOUNTS])))
        elif kind in ("number", "text", "textarea", "search", "email"):
            own = field.value or ""
            fields.append((field.name, own if own and rng.random() < 0.8 else words(rng)))
    fields += [(name, rng.choice(values)) for name, values in radios.items()]
    buttons = [
        (each.get("name"), each.get("value", ""))
        for each in form.iter("button")
        if each.get("name") and each.get("type", "submit") == "submit"
    ]
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
