"""A small browser: cookies for the marketplace's site alone, none for the frames it shows."""

import time
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpx
from django.conf import settings

from tasks.simulation.observer import NOBODY, Observer
from tasks.simulation.page_parser import Form, Page, StuckError, parse_page

TIMEOUT_SECONDS = 60
LOOPBACK = ("127.0.0.1", "localhost", "::1")


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
