"""A finished dialog's questions are answered again, in order, each answer for good."""

from playwright.sync_api import expect

from tests.browser import EVERY_TEST
from tests.browser.axe_violations import faults
from tests.browser.conftest import Enter
from tests.browser.row_assertions import ROWS
from tests.browser.task_bar import expect_one_bar, expect_room_to_read, expect_side_by_side
from tests.serving import Instance

SLUG = "validated"
TITLE = "Answer the questions of a dialog from a text"

pytestmark = EVERY_TEST


def test_answers_are_given_one_by_one_and_the_teachers_come_after(
    instance: Instance, enter: Enter
) -> None:
    questions = instance.call("tests.browser.validation_rows:open_talks", SLUG)
    secrets = instance.call("tests.browser.validation_rows:teachers_words", SLUG)
    ada = enter("Ada")
    frame = ada.begin(TITLE)
    expect(frame.locator("[data-question]")).to_have_text(questions[0])
    assert [turn["question"] for turn in ada.state()["ordered_answers"]] == questions[:1]
    passage = ada.state()["items"][0]["passage"]
    lengths = [end - start for start, end in passage["sentences"]]
    ada.drag("section", " ".join(passage["text"].split()[2:6]))
    expect(frame.locator("[data-count]")).to_contain_text("of 30")
    frame.focus("[data-document=section] .text, [data-document-text]")
    ada.key("x")
    ada.key("Control+Enter")
    expect(frame.locator("[data-question]")).to_have_text(questions[1])
    expect(frame.locator("[data-turns] .said")).to_contain_text(secrets[0])
    expect_one_bar(ada)
    expect_side_by_side(ada, ".so-far", ".section")
    expect_room_to_read(ada)
    assert secrets[1] not in frame.locator(".so-far").inner_text()
    ada.page.reload()
    frame = ada.ready()
    expect(frame.locator("[data-question]")).to_have_text(questions[1])
    frame.focus("[data-document-text]")
    ada.key("s")
    ada.type(str(1 + lengths.index(min(lengths))))
    ada.key("Enter")
    frame.click("[name=affirmation][value=yes]")
    frame.click("[data-action=give]")
    ada.expect_progress("2 of 4 answered")
    frame.click("[data-slot='0'] button")
    expect(frame.locator("[data-given-note]")).to_contain_text(secrets[0])
    ada.key("]", "]")
    for number in (2, 3):
        expect(frame.locator("[data-question]")).to_have_text(questions[number])
        frame.check("[data-none]")
        frame.click("[data-action=give]")
    ada.expect_progress("4 of 4 answered")
    assert faults(ada.page, frame) == []
    ada.click("[data-action=submit]")
    ada.expect_receipt()
    votes = instance.call("tests.browser.validation_rows:votes_of", SLUG)
    assert [vote["type"] for vote in votes] == ["span", "span", "none", "none"]
    assert [vote["affirmation"] for vote in votes] == ["neither", "yes", "neither", "neither"]
    assert ada.mistakes == []
    instance.call(f"{ROWS}:put_away", SLUG)
