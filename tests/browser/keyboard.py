"""A person who has no mouse: every step is a key."""

from typing import Any

from playwright.sync_api import ElementHandle, Frame, Page

from tests.browser.person import Person

MOST_TABS = 80
MOST_CORRECTIONS = 10


class Keyboard:
    """Presses keys and looks where the focus and the caret are; it never points."""

    def __init__(self, person: Person) -> None:
        self.person = person

    def tab_to(self, place: Page | Frame, selector: str, back: bool = False) -> None:
        """Press Tab until an element that matches has the focus."""
        for _ in range(MOST_TABS):
            if self.focused(place, selector):
                return
            self.person.key("Shift+Tab" if back else "Tab")
        raise AssertionError(f"{MOST_TABS} tabs do not lead to {selector}")

    def focused(self, place: Page | Frame, selector: str) -> bool:
        """Return whether the focus is on an element that matches."""
        holds = "selector => document.hasFocus() && document.activeElement.matches(selector)"
        return bool(place.evaluate(holds, selector))

    def focus(self) -> ElementHandle:
        """Return the element of the frame that has the focus."""
        element = self.person.frame.evaluate_handle("document.activeElement").as_element()
        assert element
        return element

    def go_to(self, document: str, words: str, occurrence: int = 0, inside: int = 0) -> None:
        """Walk the caret to the beginning of words, `inside` them by some graphemes."""
        where = self.where(document, words, occurrence)
        if where["caret"] is None:
            self.person.key(self.arrows(where)[0])
        for _ in range(MOST_CORRECTIONS):
            where = self.where(document, words, occurrence)
            assert where["caret"] is not None, f"The caret has left {document}: {where}"
            distance = where["start"] + inside - where["caret"]
            if not distance:
                return
            forward, back = self.arrows(where)
            self.person.key(*[forward if distance > 0 else back] * abs(distance))
        raise AssertionError(f"The caret does not come to “{words}”: {where}")

    def select(self, document: str, words: str, occurrence: int = 0, until: str = "") -> None:
        """Walk to words and stretch the selection over them, on to the words `until`."""
        self.go_to(document, words, occurrence)
        where = self.where(document, until or words, 0 if until else occurrence)
        end = where["start"] + where["inside"]
        forward, _ = self.arrows(where)
        while where["caret"] < end:
            self.person.key(f"Shift+{forward}")
            before, where = where["caret"], self.where(document, words, occurrence)
            # Some scripts have more stops for the caret than graphemes, none has fewer.
            assert where["caret"] >= before, f"The caret turns back in “{words}”: {where}"

    def where(self, document: str, words: str, occurrence: int) -> dict[str, Any]:
        """Return where words and caret stand, as an eye sees it."""
        wanted = {"document": document, "words": words, "occurrence": occurrence}
        found = self.person.words("stepsTo", wanted)
        assert found["start"] is not None, f"“{words}” does not stand in {document}"
        return found

    def arrows(self, where: dict[str, Any]) -> tuple[str, str]:
        """Return the arrows that lead on and back in the direction of the text."""
        pair = ("ArrowRight", "ArrowLeft")
        return (pair[1], pair[0]) if where["isRightToLeft"] else pair
