"""A person's whole way through the marketplace's frame on another site, by mouse."""

from time import monotonic
from typing import Any

from playwright.sync_api import Page, expect

from tests.browser import EVERY_TEST
from tests.browser.answer_page import AnswerPage, Given
from tests.browser.conftest import Enter
from tests.browser.person import Person
from tests.browser.phrase import phrase
from tests.browser.question_page import QuestionPage, Written, plan
from tests.browser.row_assertions import ROWS, assert_answers_are_kept, assert_questions_are_kept
from tests.serving import Instance

pytestmark = EVERY_TEST

SLUG = "island"
# What a browser would send wherever it may: the frame's requests must come without it.
PROBE = {"name": "probe", "value": "1", "sameSite": "None", "secure": True}
TITLES = {
    "question_qualification": "Qualify: write questions about what a paragraph leaves out",
    "question": "Write ten questions about what a paragraph leaves out",
    "answer_qualification": "Qualify: answer questions from linked articles",
    "answer": "Answer ten questions from linked articles",
}


def test_one_person_asks_another_answers_and_both_are_paid(
    instance: Instance, enter: Enter, rita: Page
) -> None:
    # One redundancy for all folds, so that the ten questions make one answer HIT.
    instance.call(f"{ROWS}:open_island", SLUG)
    ada, grace = enter("Ada who asks"), enter("Grace who answers", 1920, 1080)
    for person in (ada, grace):
        person.context.add_cookies([{**PROBE, "url": instance.collector_url}])
    first = ask(ada, "question_qualification", 3, 1)
    assert_questions_are_kept(
        instance.call(f"{ROWS}:questions", SLUG, "question_qualification"), first
    )
    inspect(rita, "question_qualification", first[0].text)
    written = ask(ada, "question", 10, 2)
    assert_the_next_one_is_at_hand(ada)
    assert_questions_are_kept(instance.call(f"{ROWS}:questions", SLUG, "question"), written)
    tried = answer(grace, "answer_qualification")
    assert_answers_are_kept(instance.call(f"{ROWS}:answers", SLUG, "answer_qualification"), tried)
    inspect(rita, "answer_qualification", first[0].text)
    given = answer(grace, "answer")
    assert [each.type for each in given].count("span") == 4
    assert_answers_are_kept(instance.call(f"{ROWS}:answers", SLUG, "answer"), given)
    for person, paid in ((ada, "$5.20"), (grace, "$3.90")):
        assert_paid(person, paid)
        assert person.mistakes == []
        assert person.refusals() == []
        assert len(person.visits()) >= 5
        assert person.cookies_of_the_frame() == []
    assert [row["marketplace"] for row in instance.call(f"{ROWS}:receipts", SLUG)] == [
        ["approved"]
    ] * 4


def ask(person: Person, stage: str, count: int, multi_link: int) -> list[Written]:
    """Preview, accept and do a question HIT; return what was written."""
    preview(person, TITLES[stage])
    frame = person.begin(TITLES[stage])
    page = QuestionPage(person)
    questions = plan(list(page.items.values()), count, multi_link)
    for number, question in enumerate(questions):
        page.write(question)
        if number < count - 1:
            page.next()
    person.expect_progress(f"{count} of {count} questions")
    assert frame.inner_text(".button.primary") == "Submit"
    assert frame.evaluate("document.cookie") == ""
    page.submit()
    person.expect_receipt()
    return questions


def answer(person: Person, stage: str) -> list[Given]:
    """Preview, accept and do an answer HIT; return what was answered."""
    preview(person, TITLES[stage])
    person.begin(TITLES[stage])
    page = AnswerPage(person)
    items = person.state()["items"]
    given = []
    for number, item in enumerate(items):
        given.append(find_answer(page, item, number))
        page.give(given[-1])
        if number < len(items) - 1:
            page.next()
    person.expect_progress(f"{len(items)} of {len(items)} answered")
    page.submit()
    person.expect_receipt()
    return given


def find_answer(page: AnswerPage, item: dict[str, Any], number: int) -> Given:
    """Open the writer's first article, look into it, and return an answer of each kind in turn."""
    passage, asked = item["passage"]["text"], item["question"]
    if number in (7, 8, 9):
        return (
            Given("none"),
            Given("bad", reason="The passage alone answers it."),
            Given("bad", reason="It speaks of two things at once."),
        )[number - 7]
    title = item["writer_links"][0]
    text = page.open_article(title)
    if number == 3:
        assert page.search(phrase(text, 0, 2).words) != "0"
    proof = (phrase(passage, 4, 3), phrase(text, 6, 4, title))
    answers = {
        0: Given("span", spans=(phrase(text, 2, 3, title),), evidence=proof),
        1: Given("value", value="12", unit="years", evidence=proof),
        2: Given("binary", yes_no="no", evidence=proof),
        3: Given("span", spans=(phrase(asked, 4, 2, "question"),), evidence=proof),
        4: Given("span", spans=(phrase(passage, 9, 2), phrase(passage, 13, 1)), evidence=proof),
        5: Given("value", value="3.5", evidence=proof),
        6: Given("span", spans=(phrase(text, 0, 1, title), phrase(passage, 1, 2)), evidence=proof),
    }
    return answers[number]


def assert_the_next_one_is_at_hand(person: Person) -> None:
    """Take the next HIT with the one button that has the focus, and give it back.

    The time is printed and not asserted: on a machine that does other things too it says little.
    """
    before = person.actions
    person.key("Enter")
    frame = person.frame
    frame.wait_for_selector("[data-progress-text]:text('0 of 10 questions')", timeout=5_000)
    waited_ms = round(1000 * (monotonic() - person.submitted_at))
    print(f"\nfrom submitting to the next HIT: {person.actions - before} action, {waited_ms} ms")
    assert person.actions - before == 1
    person.ready()
    frame.click("[data-action=menu]")
    frame.click("[data-action=return]")
    person.page.get_by_role("button", name="Return the HIT").click()
    expect(person.page.get_by_role("heading", name="HITs for you")).to_be_visible()


def preview(person: Person, title: str) -> None:
    """Look at a HIT before taking it: the instructions are there, and nothing to fill in."""
    person.wait_for_hit(title)
    person.page.get_by_role("link", name=f"Preview {title}").click()
    frame = person.frame
    frame.wait_for_selector("[data-page=preview]")
    assert frame.query_selector("input, textarea") is None


def inspect(rita: Page, stage: str, seen: str) -> None:
    """Let Rita read what waits for her, and grant it."""
    rita.goto(f"/collections/{SLUG}/qualification/{stage}/")
    expect(rita.get_by_text(seen).first).to_be_visible()
    rita.locator("button[value=grant]").click()
    expect(rita.get_by_text("may now take the main task")).to_be_visible()


def assert_paid(person: Person, amount: str) -> None:
    """Wait until both HITs are approved in the worker's history, and see what is owed."""
    page = person.page
    for _ in range(40):
        page.goto(person.at("history/"))
        if page.locator(".state-approved").count() == 2:
            break
        page.wait_for_timeout(500)
    assert page.locator(".state-approved").count() == 2
    page.goto(person.at("earnings/"))
    expect(page.locator(".is-owed")).to_contain_text(amount)
