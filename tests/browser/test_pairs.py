"""A bridge, a comparison, a yes/no question and a skip: by mouse, and by keyboard alone."""

import re
from pathlib import Path
from typing import Any

from playwright.sync_api import expect

from tests.browser import EVERY_TEST
from tests.browser.axe_violations import AS_SEEN, faults
from tests.browser.conftest import Enter
from tests.browser.keyboard import Keyboard
from tests.browser.measures import measure
from tests.browser.pair_page import QUESTIONS, words_of, write
from tests.browser.person import Person
from tests.browser.task_bar import expect_one_bar, expect_room_to_read, expect_side_by_side
from tests.browser.typed_pairs import SLUG, official
from tests.serving import Instance

pytestmark = EVERY_TEST
OFFICIAL = Path("official", "hotpotqa", "reflexion_100_distractor_official_nesting.json")
TOO_LITTLE = "One paragraph says too little."


def first_of_second(item: dict[str, Any]) -> int:
    """Return the number of the first sentence of the paragraph that is shown second."""
    return len(item["paragraphs"][0]["sentences"]) + 1


def check(stored: dict[str, Any], items: list[dict[str, Any]]) -> None:
    """Everything is in the rows as it was written; who asks answers."""
    first, second, third = stored["answers"][-3:]
    assert [one["question"] for one in (first, second, third)] == list(QUESTIONS)
    assert [one["type"] for one in (first, second, third)] == ["span", "span", "yes"]
    assert first["words"] == [words_of(items[0], "1")]
    assert second["words"] == [words_of(items[1], "0")]
    assert first["asked"] == {"type": "bridge", "form": "any", "facts": [[0, 0], [1, 0]]}
    assert third["asked"]["form"] == "yes_no"
    assert all(one["facts"] == [[0, 0], [1, 0]] for one in (first, second, third))
    assert all(one["by_the_writer"] for one in (first, second, third))
    assert stored["skips"][-1] == TOO_LITTLE


def test_three_kinds_of_questions_are_written_and_a_pair_skipped_by_mouse(
    instance: Instance, enter: Enter
) -> None:
    instance.call("tests.browser.pair_rows:open_pairs", "by-mouse", "Pairs by mouse")
    ada = enter("Ada of pairs")
    frame = ada.begin("Pairs by mouse")
    items = ada.state()["items"]
    expect_one_bar(ada)
    expect_side_by_side(ada, "[data-document='0']", "[data-document='1']")
    expect_room_to_read(ada)
    write(ada, 0)
    ada.drag("1", words_of(items[0], "1")[:-1])
    # A mark grows to whole words.
    expect(frame.locator("[data-picked-words]")).to_have_text(words_of(items[0], "1"))
    assert faults(ada.page, frame, rules=AS_SEEN) == []
    too_much_stays_selected(ada)
    ada.click("[data-action=next]")
    write(ada, 1)
    ada.drag("0", words_of(items[1], "0"))
    ada.click("[data-action=next]")
    write(ada, 2)
    ada.click("[data-yes-no] [value=yes]")
    ada.expect_progress("3 of 4 pairs")
    ada.click("[data-action=next]")
    expect(frame.locator("[data-action=skip]")).to_contain_text("1 at most")
    for width in (1000, 1366):
        ada.page.set_viewport_size({"width": width, "height": 768})
        frame.locator("[data-action=next]").scroll_into_view_if_needed()
        buttons = ["[data-action=skip]", "[data-action=next]"]
        assert measure(frame, "outOfSight", buttons) == [], width
    ada.click("[data-action=skip]")
    ada.click("[data-action=submit]")
    expect(frame.locator("[data-problems]")).to_contain_text("Say why")
    ada.click("[data-problem]")
    ada.click("[name=skip_reason] >> nth=1")
    note = frame.locator("[data-skip-note]")
    expect(note).to_have_text("It counts as done and is paid. 1 of 1 skips used.")
    assert faults(ada.page, frame, rules=AS_SEEN) == []
    ada.wait_until_saved()
    ada.page.reload()
    frame = ada.ready()
    ada.expect_progress("4 of 4 pairs · 1 skipped")
    ada.click("[data-slot='0'] button")
    expect(frame.locator("#field-text")).to_have_value(QUESTIONS[0])
    expect(frame.locator("[data-picked-words]")).to_have_text(words_of(items[0], "1"))
    progress = frame.locator("[data-bonus-progress]")
    expect(progress).to_contain_text("0 of this round’s 200")
    # Four pairs fill no round of two hundred.
    expect(progress).to_contain_text("nobody earns this bonus")
    expect(progress).not_to_contain_text("$6.00")
    ada.click("[data-action=submit]")
    ada.expect_receipt()
    check(instance.call("tests.browser.pair_rows:stored", "by-mouse"), items)
    instance.call("tests.browser.rows:put_away", "by-mouse")
    assert ada.mistakes == []
    assert ada.cookies_of_the_frame() == []


def too_much_stays_selected(ada: Person) -> None:
    """Drag over more words than an answer may have: they are counted, and stay to be shortened."""
    frame = ada.frame
    sentence = ada.texts("0")[0]
    ada.drag("0", sentence)
    count = frame.locator("[data-widget=brief] [data-count]")
    expect(count).to_have_text(re.compile(r"\d+ words: mark 6 or fewer"))
    assert frame.evaluate("getSelection().toString()") == sentence
    ada.key("Escape")
    expect(count).to_have_text("")


def test_the_same_is_written_and_answered_again_by_keyboard_alone(
    instance: Instance, enter: Enter
) -> None:
    instance.call("tests.browser.pair_rows:open_pairs", "by-keyboard", "Pairs by keyboard")
    ada = enter("Ada of keys")
    frame = ada.begin("Pairs by keyboard")
    keyboard = Keyboard(ada)
    items = ada.state()["items"]
    keyboard.tab_to(frame, "#field-text")
    for number, document in ((0, "1"), (1, "0"), (2, "")):
        ada.type(QUESTIONS[number])
        prove(keyboard, items[number], document, words_of(items[number], document or "0"))
        ada.key("Control+Enter")
    keyboard.tab_to(frame, "[data-yes-no] input")
    ada.key("x", "ArrowDown")
    expect(frame.locator("[name=skip_reason] >> nth=1")).to_be_checked()
    ada.expect_progress("4 of 4 pairs · 1 skipped")
    submit(keyboard)
    check(instance.call("tests.browser.pair_rows:stored", "by-keyboard"), items)
    instance.call("tests.browser.pair_rows:open_second_reading", "by-keyboard")
    answer_again(instance, enter("Grace of pairs"))
    instance.call("tests.browser.rows:put_away", "by-keyboard")


def prove(keyboard: Keyboard, item: dict[str, Any], document: str, words: str) -> None:
    """Mark the answer in a document, "" for yes, and pick the first sentence of both."""
    ada, frame = keyboard.person, keyboard.person.frame
    if document:
        keyboard.tab_to(frame, f"[data-document='{document}'] [data-sentences]", back=True)
        keyboard.select(document, words)
        ada.key("Enter")
    else:
        keyboard.tab_to(frame, "[data-yes-no] input")
        ada.key("y")
    ada.key("1")
    keyboard.person.key("s")
    ada.type(str(first_of_second(item)))
    ada.key("Enter")


def submit(keyboard: Keyboard) -> None:
    """Hand in."""
    keyboard.tab_to(keyboard.person.frame, "[data-action=submit]", back=True)
    keyboard.person.key("Enter")
    keyboard.person.expect_receipt()


def answer_again(instance: Instance, grace: Person) -> None:
    """Somebody else answers what was asked, from paragraphs in any order, by keyboard."""
    frame = grace.begin("Pairs by keyboard again")
    keyboard = Keyboard(grace)
    items = grace.state()["items"]
    assert [item["question"] for item in items] == list(QUESTIONS)
    assert "type" not in items[0]
    assert {item["form"] for item in items} == {"any"}
    for number, item in enumerate(items):
        expect(frame.locator("[data-question]")).to_have_text(QUESTIONS[number])
        prove(keyboard, item, "", "")
        grace.key("Control+Enter")
    assert faults(grace.page, frame, rules=AS_SEEN) == []
    submit(keyboard)
    answers = instance.call("tests.browser.pair_rows:stored", "by-keyboard")["answers"][-3:]
    assert {one["stage"] for one in answers} == {"human_performance"}
    assert [one["type"] for one in answers] == ["yes"] * 3
    assert all(one["facts"] == [[0, 0], [1, 0]] for one in answers)
    assert not any(one["by_the_writer"] for one in answers)


def test_real_questions_typed_through_the_pages_are_kept_as_they_were(
    instance: Instance, data: Path
) -> None:
    path = data / OFFICIAL
    kept = instance.call("tests.browser.typed_pairs:type_again", str(path))
    instance.call("tests.browser.rows:put_away", SLUG)
    true = official(path)
    assert len(true) == 100
    assert kept == true
