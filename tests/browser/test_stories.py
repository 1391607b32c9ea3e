"""A question about a story from its summary, and somebody else's answer: by mouse, and by key."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.browser import EVERY_TEST
from tests.browser.axe_violations import faults
from tests.browser.conftest import Enter
from tests.browser.keyboard import Keyboard
from tests.browser.person import Person
from tests.browser.row_assertions import ROWS
from tests.browser.task_bar import expect_one_bar, expect_room_to_read
from tests.serving import Instance

pytestmark = EVERY_TEST
STORIES = "tests.browser.story_rows"
ASK = "Ask about a story"
ANSWER = f"{ASK} again"
# Each names somebody of every summary that may come.
BY_MOUSE = "What does Bess, Susan or Tamar do for others?"
BY_KEY = "Why does Bess, Susan or Tamar not give up?"
ANSWERS = ("helps them", "out of love", "brings help")


@pytest.fixture(scope="module")
def stories(instance: Instance) -> Iterator[Instance]:
    """Return the instance with two stories to ask about, each once."""
    instance.call(f"{STORIES}:open_stories", "stories", ASK)
    yield instance
    instance.call(f"{ROWS}:put_away", "stories")


def test_a_pair_is_written_from_a_summary_and_answered_by_mouse_and_by_key(
    stories: Instance, enter: Enter
) -> None:
    ada, grace = enter("Ada of stories"), enter("Grace of stories", 390, 800)
    ask_by_mouse(ada)
    ask_by_key(Keyboard(grace))
    answer_by_mouse(ada)
    answer_by_key(Keyboard(grace))
    assert stories.call(f"{STORIES}:stored", "stories") == [
        {
            "question": BY_MOUSE,
            "first": ANSWERS[0],
            "others": [{"answer": "", "doubt": "The story does not say."}],
            "by_others": True,
        },
        {
            "question": BY_KEY,
            "first": ANSWERS[1],
            "others": [{"answer": ANSWERS[2], "doubt": ""}],
            "by_others": True,
        },
    ]
    assert ada.mistakes == grace.mistakes == []
    assert ada.cookies_of_the_frame() == []


def ask_by_mouse(ada: Person) -> None:
    """Mend what is refused, and hand in by the button below the fields."""
    frame = ada.begin(ASK)
    expect_one_bar(ada)
    expect_room_to_read(ada)
    summary = ada.state()["items"][0]["passage"]["text"]
    # One item alone: neither a list, nor a way to another.
    expect(frame.locator("[data-widget=questions]")).not_to_be_visible()
    expect(frame.locator("[data-action=previous]")).not_to_be_visible()
    below = frame.locator("[data-action=next]")
    expect(below).to_have_text("Submit Ctrl ↵")
    ada.click("#field-question")
    ada.type(f"Does the summary say that {' '.join(summary.split()[:8])}")
    ada.click("#field-answer")
    ada.type(ANSWERS[0])
    messages = frame.locator("[data-messages]")
    expect(messages).to_contain_text("who reads the book knows no summary")
    expect(messages).to_contain_text("Say it in your own words")
    assert faults(ada.page, frame) == []
    below.click()
    expect(frame.locator("[data-problems]")).to_contain_text("End the question with a question")
    frame.fill("#field-question", "What do they do?")
    expect(messages).to_contain_text("Name the characters")
    frame.fill("#field-question", BY_MOUSE)
    expect(messages).not_to_contain_text("Name the characters")
    ada.wait_until_saved()
    ada.page.reload()
    frame = ada.ready()
    expect(frame.locator("#field-question")).to_have_value(BY_MOUSE)
    ada.click("[data-action=next]")
    ada.expect_receipt()


def ask_by_key(keyboard: Keyboard) -> None:
    """Read whole what is advised on a phone, and hand in by a chord."""
    grace = keyboard.person
    frame = grace.begin(ASK)
    keyboard.tab_to(frame, "#field-question")
    grace.type("What do they do?")
    grace.key("Tab")
    grace.type(ANSWERS[1])
    advice = frame.locator("[data-message=hint]")
    expect(advice).to_contain_text("Name the characters")
    assert advice.evaluate("it => it.scrollWidth <= it.clientWidth")
    assert faults(grace.page, frame) == []
    keyboard.tab_to(frame, "#field-question", back=True)
    grace.key("Control+a")
    grace.type(BY_KEY)
    expect(advice).to_have_count(0)
    grace.key("Control+Enter")
    grace.expect_receipt()


def answer_by_mouse(ada: Person) -> None:
    """Answer what the other has asked, without their answer."""
    frame = ada.begin(ANSWER)
    expect(frame.locator("[data-given]")).to_have_text(BY_KEY)
    assert ANSWERS[1] not in frame.content()
    ada.click("#field-answer")
    ada.type(ANSWERS[2])
    ada.click("[data-action=submit]")
    ada.expect_receipt()


def answer_by_key(keyboard: Keyboard) -> None:
    """Say why it cannot be answered, which counts by itself; nothing does not."""
    grace = keyboard.person
    frame = grace.begin(ANSWER)
    expect(frame.locator("[data-given]")).to_have_text(BY_MOUSE)
    keyboard.tab_to(frame, "#field-doubt")
    grace.key("Control+Enter")
    expect(frame.locator("[data-problems]")).to_contain_text("Write the answer.")
    keyboard.tab_to(frame, "#field-doubt")
    grace.type("The story does not say.")
    expect(frame.locator("[data-checklist]")).not_to_contain_text("The answer")
    grace.key("Control+Enter")
    grace.expect_receipt()
