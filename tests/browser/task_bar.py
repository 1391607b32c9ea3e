"""The one bar over a task: who draws it, what stands in it, and how much of the window it takes."""

from playwright.sync_api import expect

from tests.browser.measures import measure
from tests.browser.person import Person

PHONE = (390, 844)
# The window's pixels: a bar on a phone, and on a desk the bar with the first line under it.
HIGHEST_ON_A_PHONE = 80
FIRST_LINE = 68
FACTS = {
    "title": "h1",
    "line": "#bar-line",
    "pay": ".bar-pay",
    "time": "#countdown",
}


def expect_one_bar(person: Person) -> None:
    """Check that the task alone draws the bar, with the marketplace's own words in it."""
    page, frame = person.page, person.frame
    expect(frame.locator("html")).to_have_attribute("data-bar", "own")
    [task] = measure(page, "boxes", "#task")
    height = page.evaluate("innerHeight")
    assert (task["top"], task["bottom"]) == (0, height)
    for name, selector in FACTS.items():
        words = page.locator(f".bar {selector}").inner_text().strip()
        assert words
        expect(frame.locator(f"[data-bar-{name}]")).to_have_text(words)


def expect_room_to_read(person: Person) -> None:
    """Check where the first line stands on a desk, and the bar's height on a phone."""
    person.frame.evaluate("scrollTo(0, 0)")
    assert measure(person.frame, "firstLine") <= FIRST_LINE
    size = person.page.viewport_size
    assert size
    person.page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    person.frame.evaluate("scrollTo(0, 0)")
    [bar] = measure(person.frame, "boxes", ".bar")
    wide = person.frame.evaluate("document.scrollingElement.scrollWidth")
    person.page.set_viewport_size(size)
    assert (bar["top"], bar["bottom"] <= HIGHEST_ON_A_PHONE, wide <= PHONE[0]) == (0, True, True)


def expect_side_by_side(person: Person, one: str, other: str) -> None:
    """Check that two texts stand beside each other, both from near the top of the window."""
    person.frame.evaluate("scrollTo(0, 0)")
    [left] = measure(person.frame, "boxes", one)
    [right] = measure(person.frame, "boxes", other)
    assert left["right"] <= right["left"]
    assert max(left["top"], right["top"]) < 200
