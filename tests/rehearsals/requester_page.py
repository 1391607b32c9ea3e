"""A requester edits a text while the database is away, and sends it again from the same page."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
from selectolax.lexbor import LexborHTMLParser

from tests.rehearsals.deployed_processes import wait_until
from tests.serving import Instance

NAME, PASSWORD = "rita", "a long sentence of hers"
HERE = "tests.rehearsals.requester_page"
# Into the outage; and how long anybody has patience afterwards.
LATER_SECONDS, PATIENCE_SECONDS = 1.0, 30
KEPT = "what you just sent is kept in this page"


def open_account() -> None:
    """Open the requester's account (runs on the instance's databases)."""
    from collector.models.accounts import create_account

    create_account(NAME, PASSWORD)


class Requester:
    """A signed-in requester, as a browser would be."""

    def __init__(self, instance: Instance, address: str, slug: str) -> None:
        """Open an account and sign in at this address, to edit the texts of a collection."""
        self.answers, self.threads = list[str](), list[threading.Thread]()
        self.page = f"/collections/{slug}/texts/consent/"
        instance.call(f"{HERE}:open_account")
        self.browser = httpx.Client(
            base_url=address, follow_redirects=True, timeout=60, trust_env=False
        )
        page = self.browser.get("/sign-in/", params={"next": self.page})
        fields = _fields(page.text, "password") | {"username": NAME, "password": PASSWORD}
        page = self._send(str(page.url), fields)
        assert page.url.path == self.page, page.text

    @contextmanager
    def editing(self, words: str) -> Iterator[None]:
        """Save a text a moment after the block begins; when it has ended, send it again.

        Whoever waits for the block's end waits for nothing else: `check` says how it went.
        """
        page = self.browser.get(self.page, params={"edit": "1"})
        fields = _fields(page.text, "markdown")
        fields["markdown"] = f"{_beginning(fields['markdown'])}\n\n{words}"
        over = threading.Event()
        self.threads.append(threading.Thread(target=self._edit, args=(words, fields, over)))
        self.threads[-1].start()
        try:
            yield
        finally:
            over.set()

    def check(self) -> list[str]:
        """Return how long each text took to be saved; raises AssertionError for what was not."""
        for thread in self.threads:
            thread.join()
        assert len(self.answers) == len(self.threads)
        return self.answers

    def _edit(self, words: str, fields: dict[str, str], over: threading.Event) -> None:
        time.sleep(LATER_SECONDS)
        kept = self._send(self.page, fields)
        assert (kept.status_code, KEPT in kept.text) == (503, True), kept.text
        again = _fields(kept.text, "markdown")
        assert again["markdown"].replace("\r\n", "\n") == fields["markdown"]
        over.wait()
        began = time.monotonic()
        assert wait_until(lambda: self._send(self.page, again).status_code == 200, PATIENCE_SECONDS)
        took = time.monotonic() - began
        shown = self.browser.get(self.page).text
        assert words in shown, shown
        self.answers.append(f"{words} Saved {took:.1f} s after its return.")

    def _send(self, address: str, fields: dict[str, str]) -> httpx.Response:
        headers = {"Referer": str(self.browser.base_url.join(self.page))}
        return self.browser.post(address, data=fields, headers=headers)


def _beginning(text: str) -> str:
    """Return what a text begins with: it does not grow with every fault."""
    return text.strip().split("\n\n", 1)[0]


def _fields(page: str, wanted: str) -> dict[str, str]:
    """Return what the form of a page that has a field of this name would send."""
    for form in LexborHTMLParser(page).css("form"):
        found = {
            node.attributes["name"] or "": (
                node.text() if node.tag == "textarea" else node.attributes.get("value") or ""
            )
            for node in form.css("input[name], textarea[name]")
        }
        if wanted in found:
            return found
    raise AssertionError(f"No form of this page has {wanted}: {page}")
