"""What somebody does is seen for what it is: own marks, what is complete, what cannot be done."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Frame, expect

from tests.browser import EVERY_TEST
from tests.browser.answer_page import AnswerPage
from tests.browser.conftest import Enter, entering
from tests.browser.person import Person
from tests.browser.phrase import phrase
from tests.browser.question_page import QuestionPage, plan
from tests.serving import Instance

pytestmark = EVERY_TEST
INSIDE = "document.activeElement.matches('input, textarea')"


@pytest.fixture(scope="module")
def edith(
    practice: Instance, chromium: Browser, request: pytest.FixtureRequest
) -> Iterator[Person]:
    """Return Edith at her answers, where every test takes a question of her own."""
    with entering(practice, chromium, request) as enter:
        edith = enter("Edith who looks closely")
        edith.begin("Practice: five answers")
        yield edith


def at(person: Person, number: int) -> Frame:
    """Open a question by its number; return the frame."""
    person.click(f"[data-slot='{number - 1}'] button")
    frame = person.frame
    expect(frame.locator("[data-panel-title]")).to_have_text(f"Answer {number}")
    return frame


def test_ones_own_mark_is_painted_over_the_writers(edith: Person) -> None:
    frame = at(edith, 1)
    writers = edith.state()["items"][0]["writer_context"][0]["text"]
    page = AnswerPage(edith)
    page.mark("context", phrase(writers, 0, 2))
    colour = "([one]) => getComputedStyle(one).backgroundColor"
    own = frame.locator("[data-document=main] .writer-mark.evidence").evaluate_all(colour)
    assert own == frame.locator(".chip-context").evaluate_all(colour)


def test_no_answer_without_having_looked_is_asked_about_once(edith: Person) -> None:
    frame = at(edith, 2)
    told, asked = frame.locator("[data-opened]"), frame.locator("[data-dialog=unopened]")
    edith.click(".card[data-type=none]")
    expect(asked).to_be_visible()
    edith.key("Escape")
    expect(frame.locator("[name=type][value=none]")).not_to_be_checked()
    edith.click(".card[data-type=none]")
    expect(asked).to_be_hidden()
    expect(told).to_contain_text("You have not opened any of its articles.")
    title = edith.state()["items"][1]["writer_links"][0]
    AnswerPage(edith).open_article(title)
    expect(told).to_contain_text(f"You have opened “{title}”")
    edith.wait_until_saved()
    edith.page.reload()
    frame = edith.ready()
    expect(frame.locator("[data-opened]")).to_contain_text(f"You have opened “{title}”")
    at(edith, 3)
    edith.key("u")
    expect(frame.locator("[data-dialog=unopened]")).to_be_visible()
    edith.click("[data-action=open-first]")
    expect(frame.locator("[data-tab][aria-selected=true]")).not_to_have_attribute(
        "data-tab", "main"
    )


def test_what_cannot_be_done_is_seen_and_no_field_holds_anybody(edith: Person) -> None:
    frame = at(edith, 4)
    edith.key("v")
    assert frame.evaluate(INSIDE)
    edith.key("Escape")
    assert not frame.evaluate(INSIDE)
    edith.key("s", "9", "9", "Enter")
    field = frame.locator("[data-field=context] .sentence-field")
    expect(field).to_contain_text("There is no sentence 99")
    assert frame.evaluate(INSIDE)
    # The next digits are another number.
    expect(field.locator("[data-sentence]")).to_have_value("")
    # A field for numbers leaves letters to the page.
    edith.key("n")
    expect(frame.locator("[data-panel-title]")).to_have_text("Answer 5")
    # Four are not complete: from the last one goes to the first of them, and Submit is not filled.
    expect(frame.locator("[data-action=submit]")).not_to_have_class(re.compile("primary"))
    edith.key("n")
    expect(frame.locator("[data-panel-title]")).to_have_text("Answer 1")
    edith.key("Escape", "b")
    edith.drag("main", edith.texts("main")[0].split(" ")[0])
    expect(frame.locator("[data-announcer]")).to_have_css("position", "fixed")
    expect(frame.locator("[data-announcer]")).to_contain_text("No marks are needed")


def test_a_report_that_is_sent_leaves_the_work_in_sight(edith: Person) -> None:
    frame = at(edith, 5)
    report, told = frame.locator("[data-dialog=report]"), frame.locator("[data-announcer]")
    for sent in range(2):
        edith.click("[data-action=menu]")
        edith.click("[data-action=report]")
        expect(report.locator("[data-report-text]")).to_have_value("")
        expect(report.locator("[data-report-note]")).to_contain_text("stays as it is")
        frame.fill("[data-report-text]", f"The passage is cut off, {sent}.")
        edith.click("[data-action=send-report]")
        expect(report).to_be_hidden()
        expect(told).to_have_text("Thank you. The requester will read this.")
        expect(told).to_have_css("position", "fixed")


def test_what_must_be_mended_gives_way_to_the_field_under_it(
    practice: Instance, enter: Enter
) -> None:
    ada = enter("Ada who mends")
    frame = ada.begin("Practice: five questions")
    problems = frame.locator("[data-problems]")
    ada.click("[data-action=submit]")
    expect(problems).to_be_visible()
    # It lies over nothing of the bar.
    frame.focus("[data-action=menu]")
    expect(problems).to_be_visible()
    # Nor under a dialog that is opened over it.
    ada.click("[data-action=menu]")
    ada.click("[data-action=report]")
    expect(frame.locator("[data-dialog=report]")).to_be_visible()
    ada.key("Escape")
    expect(frame.locator("[data-dialog=report]")).to_be_hidden()
    expect(problems).to_be_visible()
    frame.focus("#field-text")
    expect(problems).to_be_hidden()
    ada.click("[data-action=submit]")
    expect(problems).to_be_visible()
    assert ada.mistakes == []


def test_a_question_is_complete_with_words_evidence_and_link(
    practice: Instance, enter: Enter
) -> None:
    ada = enter("Ada who begins")
    frame = ada.begin("Practice: five questions")
    missing = frame.locator("[data-checklist] li:not([data-done])")
    expect(missing).to_have_text(["Question: missing", "Evidence: missing", "Link: missing"])
    ada.click("#field-text")
    ada.type("a")
    ada.wait_until_saved()
    ada.expect_progress("0 of 5 questions")
    expect(missing).to_have_count(3)
    frame.fill("#field-text", "")
    page = QuestionPage(ada)
    page.write(plan(list(page.items.values()), 1, 0)[0])
    expect(missing).to_have_count(0)
    ada.expect_progress("1 of 5 questions")
    words = frame.locator("[data-slot='0'] .slot-words")
    lines = "(element) => element.clientHeight / parseFloat(getComputedStyle(element).lineHeight)"
    assert words.evaluate(lines) >= 2
    assert ada.mistakes == []
