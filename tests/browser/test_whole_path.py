"""A person's whole way through the marketplace's frame on another site, by mouse."""

from typing import Any

from playwright.sync_api import Page, expect

from tests.browser import EVERY_TEST
from tests.browser.answer_page import AnswerPage, Given
from tests.browser.conftest import Enter
from tests.browser.person import Person
from tests.browser.phrase import Phrase, phrase
from tests.browser.question_page import QuestionPage, Written, plan
from tests.serving import Instance

pytestmark = EVERY_TEST

SLUG = "island"
ROWS = "tests.browser.rows"
TITLES = {
    "question_qualification": "Qualify: write questions about what a paragraph leaves out",
    "question": "Write ten questions about what a paragraph leaves out",
    "answer_qualification": "Qualify: answer questions from linked articles",
    "answer": "Answer ten questions from linked articles",
}


def test_one_person_asks_another_answers_and_both_are_paid(
    instance: Instance, enter: Enter, rita: Page
) -> None:
    instance.call(f"{ROWS}:read_sample")
    # One redundancy for all folds, so that the ten questions make one answer HIT.
    instance.call(f"{ROWS}:open_island", SLUG)
    ada, grace = enter("Ada"), enter("Grace", 1920, 1080)
    first = ask(ada, "question_qualification", 3, 1)
    assert_questions_are_kept(instance, "question_qualification", first)
    inspect(rita, "question_qualification", first[0].text)
    written = ask(ada, "question", 10, 2)
    assert_questions_are_kept(instance, "question", written)
    tried = answer(grace, "answer_qualification")
    assert_answers_are_kept(instance, "answer_qualification", tried)
    inspect(rita, "answer_qualification", first[0].text)
    given = answer(grace, "answer")
    assert [each.type for each in given].count("span") == 4
    assert_answers_are_kept(instance, "answer", given)
    for person, paid in ((ada, "$5.20"), (grace, "$3.90")):
        assert_paid(person, paid)
        assert person.mistakes == []
        assert person.refusals() == []
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
    expect_progress(person, f"{count} of {count} questions")
    assert frame.inner_text(".button.primary") == "Submit"
    page.submit()
    expect_receipt(person.page)
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
    expect_progress(person, f"{len(items)} of {len(items)} answered")
    page.submit()
    expect_receipt(person.page)
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


def expect_progress(person: Person, words: str) -> None:
    """Wait until the bar says so."""
    expect(person.page.frame_locator("#task").locator("[data-progress-text]")).to_contain_text(
        words
    )


def expect_receipt(page: Page) -> None:
    """Wait for the marketplace to say that it has the work."""
    expect(page.get_by_role("heading", name="Submitted, thank you")).to_be_visible()


def assert_questions_are_kept(instance: Instance, stage: str, written: list[Written]) -> None:
    """Check that the rows say exactly what was typed, dragged and clicked."""
    rows = instance.call(f"{ROWS}:questions", SLUG, stage)
    assert [row["text"] for row in rows] == [question.text for question in written]
    for row, question in zip(rows, written, strict=True):
        assert row["links"] == list(question.links)
        (span,) = row["context"]
        assert span.pop("slice") == question.evidence.words
        span.pop("before")
        assert span == question.evidence.span


def assert_answers_are_kept(instance: Instance, stage: str, given: list[Given]) -> None:
    """Check that the rows say exactly what was chosen, typed and dragged."""
    rows = instance.call(f"{ROWS}:answers", SLUG, stage)
    assert [row["type"] for row in rows] == [answer.type for answer in given]
    for row, answer in zip(rows, given, strict=True):
        assert {name: row[name] for name in ("value", "unit", "yes_no", "reason")} == {
            "value": answer.value,
            "unit": answer.unit,
            "yes_no": answer.yes_no,
            "reason": answer.reason,
        }
        assert_spans_are_kept(row["spans"], answer.spans)
        assert_spans_are_kept(row["context"], answer.evidence)


def assert_spans_are_kept(rows: list[dict[str, Any]], marked: tuple[Phrase, ...]) -> None:
    """Check that each row's offsets give the words that were dragged over, where they were."""
    for row, wanted in zip(rows, marked, strict=True):
        assert row["document"] == wanted.document
        assert row["text"] == row["slice"] == wanted.words
        if wanted.document in ("main", "question"):
            assert row["start"] == wanted.start
        else:
            assert row["before"] == wanted.occurrence


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
