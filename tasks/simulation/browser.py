"""A small browser that reads forms, links and frames as a person's does, and its observer."""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpx
from django.conf import settings

TIMEOUT_SECONDS = 60
LOOPBACK = ("127.0.0.1", "localhost", "::1")


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


State = Mapping[str, Any]


Data = Mapping[str, Any]


class Observer:
    """Is told what a crowd's workers meet; this one keeps nothing. Called from several threads.

    page: the page of work that something is told of. state: what that page was told.
    """

    def saw(self, page: Page) -> None:
        """A page was shown, on the marketplace's site or in its frame."""

    def waited(self, seconds: float) -> None:
        """A request was answered after so long."""

    def advised(
        self, page: Page, state: State, data: Data, hints: Sequence[Mapping[str, Any]]
    ) -> None:
        """What was written so far got hints, which do not keep it from being handed in."""

    def refused(
        self, page: Page, state: State, data: Data, problems: Sequence[Mapping[str, Any]]
    ) -> None:
        """Work was not taken in, and has to be mended."""

    def could_not_search(self, state: State, message: str) -> None:
        """A search of the page brought no answer but this message."""

    def tries_blank(self, state: State) -> bool:
        """Return whether a worker first submits the page with nothing done, to see what it says."""
        return False

    def submitted(
        self, page: Page, state: State, data: Data, searched: Mapping[str, Mapping[str, Any]]
    ) -> None:
        """Work was taken in; searched: what a search box found, by query as "search",
        and which of it was opened, by name as "article".
        """

    def heard(self, page: Page, state: State, dialog: State) -> None:
        """The page of a live dialog was told where the dialog stands."""

    def returned(self, page: Page) -> None:
        """A worker gave the HIT back whose page this was."""

    def stuck(self, worker: str, error: StuckError) -> None:
        """A worker could not go on, and has left for good."""


NOBODY = Observer()


class UnreachableError(Exception):
    """A site does not answer; the message names it."""


class Browser:
    """One person's browser; not for use by two threads at once.

    transport: answers in place of the network, for tests. observer: is shown every page.
    """

    def __init__(
        self,
        home: str,
        transport: httpx.BaseTransport | None = None,
        observer: Observer = NOBODY,
    ) -> None:
        self.home, self.observer = home, observer
        self.n_requests = 0
        settings: dict[str, Any] = {
            "timeout": TIMEOUT_SECONDS,
            "follow_redirects": True,
            "transport": transport,
            # A proxy knows nothing of this machine's own addresses.
            "trust_env": urlsplit(home).hostname not in LOOPBACK,
        }
        self._site = httpx.Client(**settings)
        self._frame = httpx.Client(**settings)

    def close(self) -> None:
        """Close every connection."""
        self._site.close()
        self._frame.close()

    def open(self, address: str) -> Page:
        """Return a page of the marketplace's site; `address` may be relative to it."""
        return self._page(self._send(self._site, "GET", urljoin(self.home, address)))

    def press(self, form: Form, label: str, **typed: str) -> Page:
        """Return the page that follows the button `label` of a form on the site.

        Raises StuckError for a button or field that is not there.
        """
        headers = {"Origin": origin(self.home), "Referer": self.home}
        content = form.filled(label, typed)
        return self._page(
            self._send(self._site, form.method, form.action, data=content, headers=headers)
        )

    def open_frame(self, address: str) -> Page:
        """Return the page in a frame of the site; raises StuckError if it must not be framed."""
        page = self._framed(self._send(self._frame, "GET", address))
        if not allows(page, "frame-ancestors", self.home):
            raise StuckError(f"{page} lets no page of {origin(self.home)} frame it.")
        return page

    def press_in_frame(self, page: Page, form: Form, label: str) -> Page:
        """Return what the frame shows after a button of its form; raises StuckError."""
        return self.send_from_frame(page, form, form.filled(label, {}))

    def send_from_frame(self, page: Page, form: Form, content: dict[str, str]) -> Page:
        """Return what the frame shows after a form that its page may send."""
        if not allows(page, "form-action", form.action):
            raise StuckError(f"{page} may not send a form to {origin(form.action)}.")
        # The pages of the frame ask for no referrer, so that no browser tells the origin.
        headers = {"Origin": "null"}
        return self._framed(
            self._send(self._frame, form.method, form.action, data=content, headers=headers)
        )

    def post(self, page: Page, address: str, token: str, body: Any) -> tuple[int, dict[str, Any]]:
        """Return status and JSON of what a frame's page sends from a script of its own."""
        answer = self._send(
            self._frame,
            "POST",
            urljoin(page.url, address),
            json=body,
            headers={"Authorization": f"Bearer {token}", "Origin": origin(page.url)},
        )
        try:
            found = answer.json()
        except ValueError:
            raise StuckError(
                f"{answer.request.url.path} answered {answer.status_code} without JSON."
            ) from None
        return answer.status_code, found

    def _framed(self, answer: httpx.Response) -> Page:
        if self._frame.cookies:
            raise StuckError(f"{answer.request.url.path} set a cookie in the frame.")
        return self._page(answer)

    def _page(self, answer: httpx.Response) -> Page:
        policy = answer.headers.get("Content-Security-Policy", "")
        page = parse_page(answer.text, str(answer.url), answer.status_code, policy)
        if answer.status_code >= 500:
            raise StuckError(f"{page} is an error of the server.")
        self.observer.saw(page)
        return page

    def _send(
        self, client: httpx.Client, method: str, address: str, **content: Any
    ) -> httpx.Response:
        self.n_requests += 1
        began = time.monotonic()
        try:
            answer = client.request(method.upper(), address, **content)
        except httpx.TooManyRedirects:
            raise StuckError(f"{address} leads round in circles.") from None
        except (httpx.TransportError, httpx.InvalidURL) as error:
            raise UnreachableError(
                f"{origin(address)} does not answer ({type(error).__name__}): "
                "start it, for instance with `make run`, and run this again."
            ) from None
        self.observer.waited(time.monotonic() - began)
        return answer


def check_reachable() -> None:
    """Raise UnreachableError if nobody is at home at the marketplace's site."""
    browser = Browser(settings.MARKETPLACE_URL)
    try:
        browser.open("/")
    finally:
        browser.close()


def origin(address: str) -> str:
    """Return scheme, host and port of an address."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}"


def allows(page: Page, directive: str, address: str) -> bool:
    """Return whether the page's policy allows `address`; without the directive all are allowed."""
    for part in page.policy.split(";"):
        name, *sources = part.split() or [""]
        if name == directive:
            # A page's own site is also the same place reached by a socket.
            plain = "http" + address.removeprefix("ws") if address.startswith("ws") else address
            own = origin(page.url) == origin(plain) and "'self'" in sources
            return own or any(_covers(source, address) for source in sources)
    return True


def _covers(source: str, address: str) -> bool:
    """Return whether a source of a policy names this address: its site, and its path if it has one.

    A path that ends with a slash names everything under it (CSP level 3, 6.7.2.12).
    """
    path, wanted = urlsplit(source).path, urlsplit(address).path or "/"
    if origin(source) != origin(address):
        return False
    return path in ("", wanted) or (path.endswith("/") and wanted.startswith(path))
