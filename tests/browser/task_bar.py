"""The one bar over a task: who draws it, what stands in it, and how much of the window it takes."""

from itertools import combinations

from playwright.sync_api import expect

from tests.browser.measures import measure
from tests.browser.person import Person

DESK, PHONE = (1280, 900), (390, 844)
# The window's pixels: a bar on a phone, and on a desk the bar with the first line under it.
HIGHEST_ON_A_PHONE = 80
FIRST_LINE = 68
PARTS = ".bar-title, .bar-pay, .bar-time, .bar-progress, .bar-save, .bar-actions > *"
# What is wider than the sheet in the middle, or the parts of it.
INSIDE = """() => [...document.querySelectorAll(".hall:not([hidden]), .hall:not([hidden]) dd")]
  .filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent)"""
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
        expect(frame.locator(f".bar [data-bar-{name}]")).to_have_text(words)


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


def expect_nothing_covered(person: Person) -> None:
    """Check, on a desk and a phone, with every size of letters, that nothing lies over another.

    What has no room in the bar stands whole in its menu, and instructions are in one of them.
    """
    page, frame = person.page, person.frame
    before = page.viewport_size
    assert before
    for size in (DESK, PHONE):
        page.set_viewport_size({"width": size[0], "height": size[1]})
        for letters in ("m", "l", "xl"):
            frame.evaluate("size => document.documentElement.dataset.textSize = size", letters)
            assert frame.evaluate(INSIDE) == []
            [bar] = measure(frame, "boxes", ".bar")
            parts = [
                box for box in measure(frame, "boxes", PARTS) if box["right"] > box["left"] + 1
            ]
            assert all(_covers(bar, box) for box in parts), (size, letters, bar, parts)
            overlapping = [pair for pair in combinations(parts, 2) if _overlap(*pair)]
            assert overlapping == [], (size, letters)
            frame.click("[data-action=menu]")
            assert measure(frame, "outOfSight", [".menu-terms > p"]) == []
            for name in ("title", "pay"):
                words = page.locator(f".bar {FACTS[name]}").inner_text().strip()
                expect(frame.locator(f".menu [data-bar-{name}]")).to_have_text(words)
            assert frame.locator("[data-action=instructions]:visible").count() == 1
            page.keyboard.press("Escape")
    frame.evaluate("document.documentElement.dataset.textSize = 'm'")
    page.set_viewport_size(before)


def _covers(outer: dict[str, float], inner: dict[str, float]) -> bool:
    return all(outer[side] <= inner[side] for side in ("left", "top")) and all(
        outer[side] >= inner[side] for side in ("right", "bottom")
    )


def _overlap(one: dict[str, float], other: dict[str, float]) -> bool:
    return (
        max(one["left"], other["left"]) < min(one["right"], other["right"]) - 1
        and max(one["top"], other["top"]) < min(one["bottom"], other["bottom"]) - 1
    )


def expect_side_by_side(person: Person, one: str, other: str) -> None:
    """Check that two texts stand beside each other, both from near the top of the window."""
    person.frame.evaluate("scrollTo(0, 0)")
    [left] = measure(person.frame, "boxes", one)
    [right] = measure(person.frame, "boxes", other)
    assert left["right"] <= right["left"]
    assert max(left["top"], right["top"]) < 200
