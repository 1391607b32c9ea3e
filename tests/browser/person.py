"""Somebody at a browser of their own: signs in, takes HITs, works in the frame."""

import json
from pathlib import Path
from typing import Any

from playwright.sync_api import BrowserContext, Frame, Page, Response, expect

from tests.serving import Instance

WORDS = (Path(__file__).parent / "words.js").read_text("utf-8")
# Jobs look every two seconds; on a busy machine a round takes a little longer.
PATIENCE_MS = 45_000


class Person:
    """A browser context at the marketplace; `actions` counts clicks, drags and keys, not typing."""

    def __init__(self, name: str, instance: Instance, context: BrowserContext) -> None:
        self.name = name
        self.instance = instance
        self.context = context
        self.actions = 0
        self.submitted_at = 0.0
        self.responses: list[Response] = []
        self.mistakes: list[str] = []
        self.page: Page = self.new_page()

    def new_page(self) -> Page:
        """Return another tab of this person's browser, watched."""
        page = self.context.new_page()
        page.set_default_timeout(15_000)
        page.on("response", lambda response: self.responses.append(response))
        page.on("pageerror", lambda error: self.mistakes.append(str(error)))
        return page

    # -- the marketplace

    def at(self, path: str) -> str:
        """Return the marketplace's address of `path`."""
        return f"{self.instance.marketplace_url}/{path}"

    def sign_in(self) -> None:
        """Sign in by name at the front door."""
        self.page.goto(self.at(""))
        self.page.get_by_label("Your name").fill(self.name)
        self.page.get_by_role("button", name="Work as a worker").click()
        expect(self.page.get_by_role("heading", name="HITs for you")).to_be_visible()

    def wait_for_hit(self, title: str) -> None:
        """Look at the list until a HIT of this title can be accepted."""
        button = self.page.get_by_role("button", name=f"Accept {title}", exact=True)
        for _ in range(PATIENCE_MS // 500):
            if self.page.url == self.at("hits/") and button.count():
                return
            self.page.goto(self.at("hits/"))
            if button.count():
                return
            self.page.wait_for_timeout(500)
        raise AssertionError(f"No HIT “{title}” for {self.name}: {self.page.inner_text('main')}")

    def accept(self, title: str) -> None:
        """Accept a HIT of this title from the list; its frame opens."""
        self.wait_for_hit(title)
        self.page.get_by_role("button", name=f"Accept {title}", exact=True).click()
        self.page.wait_for_selector("iframe#task")

    def begin(self, title: str) -> Frame:
        """Accept a HIT, agree to the consent text where it is asked, put the instructions away."""
        self.accept(title)
        frame = self.frame
        frame.wait_for_selector("[data-page], [data-kind]")
        if frame.query_selector("[data-page=consent]"):
            frame.click("[data-action=agree]")
        return self.ready()

    def ready(self) -> Frame:
        """Wait until the work stands in the frame and close the instructions if they opened."""
        frame = self.frame
        frame.wait_for_selector("[data-progress-text]:not(:text-is('\u00a0'))")
        if frame.query_selector("[data-dialog=instructions][open]"):
            frame.press("[data-dialog=instructions]", "Escape")
        return frame

    @property
    def frame(self) -> Frame:
        """Return the task's frame on the worker pages' own site."""
        element = self.page.wait_for_selector("iframe#task")
        assert element
        frame = element.content_frame()
        assert frame
        frame.wait_for_url(f"{self.instance.collector_url}/**")
        return frame

    # -- words in the frame

    def words(self, function: str, argument: Any, frame: Frame | None = None) -> Any:
        """Return what a function of words.js says of the frame's page."""
        return (frame or self.frame).evaluate(
            f"(argument) => {{ {WORDS}\nreturn {function}(argument); }}", argument
        )

    def point(self, place: dict[str, float]) -> tuple[float, float]:
        """Return a point of the frame as a point of the window."""
        box = self.frame.frame_element().bounding_box()
        assert box
        return box["x"] + place["x"], box["y"] + place["y"]

    def drag(self, document: str, words: str, occurrence: int = 0, until: str = "") -> None:
        """Drag the mouse over words of a document, on to the words `until` of a later block."""
        wanted = {"document": document, "words": words, "occurrence": occurrence}
        end = self.words("pathOver", {**wanted, "words": until, "occurrence": 0}) if until else {}
        path = {**self.words("pathOver", wanted), **({"end": end["end"]} if until else {})}
        self.page.mouse.move(*self.point(path["start"]))
        self.page.mouse.down()
        self.page.mouse.move(*self.point(path["end"]), steps=2)
        self.page.mouse.up()
        self.actions += 1

    def press_on(self, document: str, words: str, occurrence: int = 0) -> None:
        """Click on words of a document."""
        wanted = {"document": document, "words": words, "occurrence": occurrence}
        self.page.mouse.click(*self.point(self.words("pointAt", wanted)))
        self.actions += 1

    def click(self, selector: str) -> None:
        """Click something of the frame."""
        self.frame.click(selector)
        self.actions += 1

    def key(self, *keys: str) -> None:
        """Press keys, one after the other."""
        for key in keys:
            self.page.keyboard.press(key)
            self.actions += 1

    def type(self, words: str) -> None:
        """Type words into whatever has the focus."""
        self.page.keyboard.insert_text(words)

    # -- what is on the page

    def state(self) -> dict[str, Any]:
        """Return what the server put into the page."""
        text = self.frame.text_content("#page-state")
        return json.loads(text or "{}")

    def texts(self, document: str) -> list[str]:
        """Return the text of each block of a document."""
        return self.words("textsOf", document)

    def wait_until_saved(self) -> None:
        """Wait until everything on the page is on the server."""
        self.frame.wait_for_selector("[data-save-state=saved]:text-matches('^Saved \\\\d')")

    def expect_progress(self, words: str) -> None:
        """Wait until the bar says so."""
        bar = self.page.frame_locator("#task").locator("[data-progress-text]")
        expect(bar).to_contain_text(words)

    def expect_receipt(self) -> None:
        """Wait for the marketplace to say that it has the work."""
        thanks = self.page.get_by_role("heading", name="Submitted, thank you")
        expect(thanks).to_be_visible(timeout=15_000)

    # -- what went over the wire

    def refusals(self) -> list[str]:
        """Return every answer that refused or failed."""
        return [f"{row.status} {row.url}" for row in self.responses if row.status >= 400]

    def visits(self) -> list[Response]:
        """Return every answer of the worker pages' own site."""
        return [row for row in self.responses if row.url.startswith(self.instance.collector_url)]

    def cookies_of_the_frame(self) -> list[str]:
        """Return every cookie that the worker pages' site has set or was sent."""
        return [
            f"{response.url}: {header['value']}"
            for response in self.visits()
            if "/hit/" in response.url
            for header in (*response.headers_array(), *response.request.headers_array())
            if header["name"].lower() in ("cookie", "set-cookie")
        ]

    # -- the end

    def leave(self) -> None:
        """Close the browser context."""
        self.context.close()
