"""Reads a page as a browser does: its forms, buttons, links, frames and data."""

import json
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urljoin


class StuckError(Exception):
    """A simulated worker cannot go on as a person could; the message says where and why."""


@dataclass
class Button:
    """What can be pressed in a form; `name` and `value` are sent when it is."""

    label: str = ""
    name: str = ""
    value: str = ""


@dataclass
class Form:
    """A form with what its fields hold; `action` is a whole address."""

    action: str
    method: str
    fields: dict[str, str] = field(default_factory=dict)
    # Fields that are there but not sent unless filled in, such as boxes without a tick.
    vacant: set[str] = field(default_factory=set)
    buttons: list[Button] = field(default_factory=list)

    def filled(self, label: str, typed: dict[str, str]) -> dict[str, str]:
        """Return what is sent when the button `label` is pressed after typing into fields.

        Raises StuckError for a button or a field that the form does not have.
        """
        for name in typed:
            if name not in self.fields and name not in self.vacant:
                known = ", ".join(sorted({*self.fields, *self.vacant})) or "none"
                raise StuckError(f"There is no field {name!r} to fill in. Fields: {known}.")
        for button in self.buttons:
            if button.label.startswith(label):
                pressed = {button.name: button.value} if button.name else {}
                return {**self.fields, **typed, **pressed}
        known = ", ".join(repr(button.label) for button in self.buttons) or "none"
        raise StuckError(f"There is no button {label!r} to press. Buttons: {known}.")


@dataclass
class Page:
    """A page as it came, in `html`; `policy` is its Content-Security-Policy."""

    url: str
    status: int = 200
    policy: str = ""
    heading: str = ""
    kind: str = ""
    message: str = ""
    forms: list[Form] = field(default_factory=list)
    links: list[tuple[str, str]] = field(default_factory=list)
    frames: list[dict[str, str]] = field(default_factory=list)
    scripts: dict[str, str] = field(default_factory=dict)
    html: str = field(default="", repr=False)

    def form(self, label: str, action: str = "") -> Form:
        """Return the form that has the button `label`, its address holding `action`.

        Raises StuckError when there is none.
        """
        for form in self.forms:
            if action in form.action and any(
                button.label.startswith(label) for button in form.buttons
            ):
                return form
        raise StuckError(f"{self} has no button {label!r}.")

    def has_button(self, label: str, action: str = "") -> bool:
        """Return whether `form` would find one."""
        return any(
            action in form.action and button.label.startswith(label)
            for form in self.forms
            for button in form.buttons
        )

    def data(self, name: str) -> dict[str, Any]:
        """Return the JSON in the script element `name`; raises StuckError without one."""
        try:
            found = json.loads(self.scripts[name])
        except (KeyError, json.JSONDecodeError):
            raise StuckError(f"{self} has no readable {name!r}.") from None
        return dict(found)

    def __str__(self) -> str:
        said = f", which says: {self.message}" if self.message else ""
        return f"The page “{self.heading}” ({self.status}, {self.url.split('?')[0]}{said})"


def parse_page(html: str, url: str, status: int = 200, policy: str = "") -> Page:
    """Return the page that `html` is when it was fetched from `url`."""
    page = Page(url, status, policy, html=html)
    reader = _Reader(page)
    reader.feed(html)
    reader.close()
    return page


class _Reader(HTMLParser):
    """Fills in a page while its HTML goes by."""

    def __init__(self, page: Page) -> None:
        super().__init__(convert_charrefs=True)
        self.page = page
        self.form: Form | None = None
        self.button: Button | None = None
        self.words: list[str] | None = None
        self.catching = ""
        self.href = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.page.kind = self.page.kind or given.get("data-page", "")
        if tag == "form":
            action = urljoin(self.page.url, given.get("action") or self.page.url)
            self.form = Form(action, given.get("method", "get").lower())
            self.page.forms.append(self.form)
        elif tag == "iframe":
            self.page.frames.append(given)
        elif tag in ("input", "textarea"):
            self._field(given)
        elif tag == "button" and given.get("type", "submit") == "submit" and self.form:
            self.button = Button("", given.get("name", ""), given.get("value", ""))
            self.form.buttons.append(self.button)
            self._catch("button")
        elif tag == "script" and given.get("id"):
            self.href = given["id"]
            self._catch("script")
        elif tag == "a" and given.get("href"):
            self.href = urljoin(self.page.url, given["href"])
            self._catch("a")
        elif tag == "h1" and not self.page.heading:
            self._catch("h1")
        elif tag == "p" and (
            given.get("role") in ("alert", "status") or "message" in given.get("class", "")
        ):
            self._catch("p")

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self.form = None
        if tag != self.catching:
            return
        raw = "".join(self.words or ())
        text = " ".join(raw.split())
        if tag == "button" and self.button:
            self.button.label = text
        elif tag == "script":
            self.page.scripts[self.href] = raw
        elif tag == "a":
            self.page.links.append((self.href, text))
        elif tag == "h1":
            self.page.heading = text
        elif tag == "p" and text:
            self.page.message = self.page.message or text
        self.catching, self.words = "", None

    def handle_data(self, data: str) -> None:
        if self.words is not None:
            self.words.append(data)

    def _catch(self, tag: str) -> None:
        self.catching, self.words = tag, []

    def _field(self, given: dict[str, str]) -> None:
        name = given.get("name")
        if self.form is None or not name:
            return
        if given.get("type") in ("checkbox", "radio") and "checked" not in given:
            self.form.vacant.add(name)
        else:
            is_box = given.get("type") in ("checkbox", "radio")
            self.form.fields[name] = given.get("value", "on" if is_box else "")
