"""Reload, second tab, twice the button, no network: nothing that was written is lost."""

import re
from itertools import count

from playwright.sync_api import Frame, Route, expect

from tests.browser import EVERY_TEST
from tests.browser.conftest import Enter
from tests.browser.person import Person
from tests.browser.question_page import QuestionPage, Written, plan
from tests.browser.row_assertions import ROWS
from tests.serving import Instance

pytestmark = EVERY_TEST
TITLE = "Single: one question"


def begin(person: Person) -> tuple[QuestionPage, Written]:
    """Open the one-question HIT; return its page and the question to write."""
    person.begin(TITLE)
    page = QuestionPage(person)
    return page, plan(list(page.items.values()), 1, 1)[0]


def assert_on_the_page(frame: Frame, question: Written) -> None:
    """Check that the page shows the whole question."""
    expect(frame.locator("[data-text]")).to_have_value(question.text)
    expect(frame.locator(".chip-context bdi")).to_have_text([question.evidence.words])
    expect(frame.locator("[data-picks] bdi")).to_have_text(list(question.links))


def handed_in(instance: Instance) -> int:
    """Return how many questions were handed in so far."""
    return len(instance.call(f"{ROWS}:questions", "single", "question_qualification"))


def test_a_reload_in_the_middle_of_writing(practice: Instance, enter: Enter) -> None:
    ada = enter("Ada who reloads", locale="en-US")
    page, question = begin(ada)
    page.write(question)
    # At once: the page has not had the time to save by itself.
    ada.page.reload()
    assert_on_the_page(ada.ready(), question)
    ada.page.goto(ada.at("hits/"))
    ada.page.get_by_role("link", name=TITLE).first.click()
    frame = ada.ready()
    assert_on_the_page(frame, question)
    frame.click(".chip-context")
    ada.wait_until_saved()
    # One clock: where the bar says 6:24 AM, the page does not say 06:24.
    assert re.search(r"\d [AP]M", frame.inner_text("[data-save-state]"))
    ada.page.reload()
    assert ada.ready().query_selector(".chip-context") is None
    save_while_a_proxy_swallows(practice, ada, question)


def test_a_question_deleted_and_another_written_take_turns_by_undo(
    practice: Instance, enter: Enter
) -> None:
    ada = enter("Ada who changes her mind")
    page, question = begin(ada)
    page.write(question)
    ada.click("[data-action=delete]")
    ada.click("[data-text]")
    ada.type("What else was built there?")
    # The one place is taken: what comes back takes it, and the other is one more Undo away.
    for shown in (question.text, "What else was built there?", question.text):
        ada.click("[data-action=undo]")
        expect(ada.frame.locator("[data-text]")).to_have_value(shown)
        ada.wait_until_saved()
        saved = practice.call(f"{ROWS}:drafts", "single")[-1]
        assert [one["text"] for one in saved["draft"]["data"]["questions"]] == [shown]
    assert_on_the_page(ada.frame, question)


def save_while_a_proxy_swallows(practice: Instance, ada: Person, question: Written) -> None:
    """Mark again what proves the question, while the first draft that is saved is lost."""
    sent = count()

    def swallow_the_first(route: Route) -> None:
        if next(sent) == 0:
            route.fulfill(status=502, body="<h1>Bad gateway</h1>", content_type="text/html")
        else:
            route.continue_()

    ada.page.route("**/hit/draft", swallow_the_first)
    ada.drag("main", question.evidence.words, question.evidence.occurrence)
    ada.frame.wait_for_selector("[data-save-state=failed]")
    assert_on_the_page(ada.frame, question)
    ada.wait_until_saved()
    saved = practice.call(f"{ROWS}:drafts", "single")[-1]
    assert saved["draft"]["data"]["questions"][0]["text"] == question.text
    assert saved["marked"] == [question.evidence.words]


def test_an_answer_that_never_arrives(practice: Instance, enter: Enter) -> None:
    ada = enter("Ada on a train")
    page, question = begin(ada)
    page.write(question)
    before, sent = handed_in(practice), count()

    def lose_the_first(route: Route) -> None:
        if next(sent) == 0:
            route.fetch()
            route.abort()
        else:
            route.continue_()

    ada.page.route("**/hit/submit", lose_the_first)
    ada.click("[data-action=submit]")
    ada.expect_receipt()
    assert next(sent) == 2
    assert handed_in(practice) == before + 1


def test_nothing_is_saved_beside_a_submission(practice: Instance, enter: Enter) -> None:
    ada = enter("Ada on a slow line")
    page, question = begin(ada)
    page.write(question)

    def answer_late(route: Route) -> None:
        answer = route.fetch()
        # Longer than the pause after which a page saves what was written last.
        ada.page.wait_for_timeout(1_500)
        route.fulfill(response=answer)

    ada.page.route("**/hit/submit", answer_late)
    ada.click("[data-action=submit]")
    ada.expect_receipt()
    assert ada.refusals() == []


def test_a_receipt_that_is_cut_off(practice: Instance, enter: Enter) -> None:
    ada = enter("Ada whose receipt is lost")
    page, question = begin(ada)
    page.write(question)
    before, sent = handed_in(practice), count()

    def cut_off_the_first(route: Route) -> None:
        if next(sent) == 0:
            route.abort("connectionrefused")
        else:
            route.continue_()

    ada.page.route("**/externalSubmit", cut_off_the_first)
    ada.click("[data-action=submit]")
    # The browser's own page of an error stands in the frame, until the page around opens again.
    frame = ada.page.frame_locator("#task")
    expect(frame.get_by_role("heading", name="Your work is saved")).to_be_visible(timeout=30_000)
    frame.get_by_role("button", name="Send the receipt again").click()
    ada.expect_receipt()
    assert next(sent) == 2
    assert handed_in(practice) == before + 1


def test_an_answer_to_a_receipt_that_is_cut_off(practice: Instance, enter: Enter) -> None:
    ada = enter("Ada who is not told")
    page, question = begin(ada)
    page.write(question)

    def cut_off_the_answer(route: Route) -> None:
        route.fetch()
        route.abort("connectionreset")

    ada.page.route("**/externalSubmit", cut_off_the_answer)
    ada.click("[data-action=submit]")
    # It may have been approved meanwhile.
    receipt = ada.page.get_by_role("link", name="Read what you sent")
    expect(receipt).to_be_visible(timeout=30_000)


def test_two_tabs_of_one_person(practice: Instance, enter: Enter) -> None:
    ada = enter("Ada of two tabs")
    page, question = begin(ada)
    other = Person(ada.name, practice, ada.context)
    other.page.goto(ada.page.url)
    there = other.ready()
    ada.page.bring_to_front()
    page.write(question)
    ada.wait_until_saved()
    other.page.bring_to_front()
    other.click("[data-text]")
    other.type("What else was built there?")
    there.wait_for_selector("[data-dialog=conflict][open]")
    there.click("[data-action=keep-mine]")
    other.wait_until_saved()
    assert there.input_value("[data-text]") == "What else was built there?"
    # The first tab learns of it with its next change, and has lost nothing of its own.
    ada.page.bring_to_front()
    here = ada.frame
    here.click(".chip-context")
    here.wait_for_selector("[data-dialog=conflict][open]")
    assert here.input_value("[data-text]") == question.text
    here.click("[data-action=take-theirs]")
    ada.wait_until_saved()
    assert here.input_value("[data-text]") == "What else was built there?"


def test_a_save_whose_answer_is_lost_is_no_other_tab(practice: Instance, enter: Enter) -> None:
    ada = enter("Ada who hears nothing")
    begin(ada)
    stored: list[int] = []

    def lose_the_answer(route: Route) -> None:
        stored.append(route.fetch().status)
        if len(stored) % 2:
            route.abort()
        else:
            route.fulfill(status=502, body="<h1>Bad gateway</h1>", content_type="text/html")

    ada.page.route("**/hit/draft", lose_the_answer)
    ada.click("[data-text]")
    for words in ("What was built there, ", "and by whom, ", "and why?"):
        ada.type(words)
        # A save is sent within a second of the last key, and again after two to four.
        ada.page.wait_for_timeout(2_500)
    assert len(stored) >= 2
    assert set(stored) == {200}
    ada.frame.wait_for_selector("[data-save-state=failed]")
    ada.page.unroute("**/hit/draft")
    ada.wait_until_saved()
    assert not ada.frame.query_selector("[data-dialog=conflict][open]")
    saved = practice.call(f"{ROWS}:drafts", "single")[-1]["draft"]
    assert saved["data"]["questions"][0]["text"] == "What was built there, and by whom, and why?"


def test_submitting_without_a_network_and_then_twice(practice: Instance, enter: Enter) -> None:
    ada = enter("Ada in a tunnel")
    page, question = begin(ada)
    before = handed_in(practice)
    ada.context.set_offline(True)
    page.write(question)
    ada.frame.wait_for_selector("[data-save-state=failed]")
    ada.click("[data-action=submit]")
    ada.frame.wait_for_selector("text=Not submitted: the server could not be reached")
    assert_on_the_page(ada.frame, question)
    ada.context.set_offline(False)
    ada.wait_until_saved()
    ada.frame.dblclick("[data-action=submit]")
    ada.expect_receipt()
    ada.page.go_back()
    assert handed_in(practice) == before + 1
    rows = practice.call(f"{ROWS}:questions", "single", "question_qualification")
    assert rows[-1]["text"] == question.text
