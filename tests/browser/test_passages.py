"""A question that a passage answers, one that it only seems to, and answers: by mouse, by key."""

from playwright.sync_api import expect

from tests.browser import EVERY_TEST
from tests.browser.axe_violations import faults
from tests.browser.conftest import Enter
from tests.browser.keyboard import Keyboard
from tests.browser.person import Person
from tests.browser.phrase import phrase
from tests.browser.row_assertions import ROWS
from tests.browser.task_bar import expect_one_bar, expect_room_to_read
from tests.serving import Instance

pytestmark = EVERY_TEST
PASSAGES = "tests.browser.passage_rows"
ASK = "Ask about a passage"
ANSWERED, SEEMING = "What comes first in all of this?", "What came long before any of this?"
ODD = "It is about nothing."


def test_a_passage_is_asked_about_by_mouse_and_answered_by_key(
    instance: Instance, enter: Enter
) -> None:
    instance.call(f"{PASSAGES}:open_passages", "passages", ASK)
    ada, grace = enter("Ada of passages"), enter("Grace of passages", 390, 800)
    words, looks = ask_by_mouse(ada)
    answer_by_key(Keyboard(grace), words)
    stored = instance.call(f"{PASSAGES}:stored", "passages")
    instance.call(f"{ROWS}:put_away", "passages")
    own, others = stored[:2], {row["question"]: row for row in stored[2:]}
    assert [row["question"] for row in own] == [ANSWERED, SEEMING]
    assert [(row["type"], row["words"], row["plausible"]) for row in own] == [
        ("span", [words], []),
        ("none", [], [looks]),
    ]
    assert all(row["by_the_writer"] for row in own)
    assert (others[ANSWERED]["type"], others[ANSWERED]["words"]) == ("span", [words])
    assert (others[SEEMING]["type"], others[SEEMING]["reason"]) == ("bad", ODD)
    assert ada.mistakes == grace.mistakes == []
    assert ada.cookies_of_the_frame() == []


def ask_by_mouse(ada: Person) -> tuple[str, str]:
    """Write both questions; return the words marked as the answer, and as what looks like one."""
    frame = ada.begin(ASK)
    expect_one_bar(ada)
    expect_room_to_read(ada)
    text = ada.state()["items"][0]["paragraphs"][0]["text"]
    words, looks = phrase(text, 0, 2).words, phrase(text, 7, 3).words
    expect(frame.locator("[data-task]")).to_contain_text("Answered:")
    ada.click("#field-text")
    ada.type(ANSWERED.rstrip("?"))
    expect(frame.locator("[data-messages]")).to_contain_text("End the question")
    frame.fill("#field-text", ANSWERED)
    # A mark grows to whole words.
    ada.drag("main", words[:-1])
    expect(frame.locator("[data-picked-words]")).to_have_text(words)
    expect(frame.locator(".answer-mark")).to_have_text(words)
    ada.drag("main", phrase(text, 0, 12).words)
    expect(frame.locator("[data-widget=brief] [data-count]")).to_contain_text("mark 6 or fewer")
    ada.key("Escape")
    assert faults(ada.page, frame) == []
    ada.click("[data-action=next]")
    expect(frame.locator("[data-task]")).to_contain_text("Not answered:")
    ada.click("#field-text")
    ada.type(SEEMING)
    ada.click("[data-action=submit]")
    expect(frame.locator("[data-problems]")).to_contain_text("look like the answer")
    ada.drag("main", looks)
    ada.expect_progress("2 of 2 questions")
    assert faults(ada.page, frame) == []
    ada.wait_until_saved()
    ada.page.reload()
    frame = ada.ready()
    expect(frame.locator(".plausible-mark").first).to_be_visible()
    looks = frame.locator("[data-picked-words]").inner_text()
    ada.click("[data-slot='0'] button")
    expect(frame.locator("#field-text")).to_have_value(ANSWERED)
    ada.click("[data-action=submit]")
    ada.expect_receipt()
    return words, looks


def answer_by_key(keyboard: Keyboard, words: str) -> None:
    """Mark the answer to the one question, and call the other bad, all by keys."""
    grace = keyboard.person
    frame = grace.begin(f"{ASK} again")
    order = [item["question"] for item in grace.state()["items"]]
    assert sorted(order) == sorted([ANSWERED, SEEMING])
    for question in order:
        expect(frame.locator("[data-question]")).to_have_text(question)
        # Nothing of what the writer marked is on the page.
        expect(frame.locator(".answer-mark, .plausible-mark")).to_have_count(0)
        keyboard.tab_to(frame, "[data-document-text]")
        if question == ANSWERED:
            keyboard.select("main", words)
            grace.key("Enter")
            expect(frame.locator("[data-picked-words]")).to_have_text(words)
        else:
            grace.key("u")
            expect(frame.locator("[name=no_answer][value=none]")).to_be_checked()
            grace.key("b")
            grace.type(ODD)
        assert faults(grace.page, frame) == []
        if question == order[0]:
            grace.key("Control+Enter")
    grace.expect_progress("2 of 2 answered")
    frame.evaluate("document.activeElement.blur()")
    keyboard.tab_to(frame, "[data-action=submit]")
    grace.key("Enter")
    grace.expect_receipt()
