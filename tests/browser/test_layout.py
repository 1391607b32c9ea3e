"""What a worker has before their eyes in the marketplace's frame, measured on two screens."""

from statistics import median

from playwright.sync_api import Frame, Page

from tests.browser import EVERY_TEST
from tests.browser.answer_page import AnswerPage, Given
from tests.browser.axe_violations import faults
from tests.browser.conftest import Enter
from tests.browser.measures import measure
from tests.browser.person import Person
from tests.browser.phrase import phrase
from tests.browser.question_page import QuestionPage, plan
from tests.browser.row_assertions import ROWS
from tests.browser.task_bar import expect_one_bar, expect_room_to_read, expect_side_by_side
from tests.serving import Instance

pytestmark = EVERY_TEST
SCREENS = ((1366, 768), (1920, 1080))
OF_FORM = ("[data-save-state]", "[data-action=next]", "[data-action=submit]")
READ = ".block, .question-text, [data-text], [data-value], [data-unit], .prose, .prose p, .prose li"

TEXTS = ".documents .block, .passages .block"
A_TEXT = ".reading .block"
STORIES = "tests.browser.story_rows"


def open_at(person: Person, screen: tuple[int, int]) -> Frame:
    """Open the page afresh on a screen of this size; return the work in its frame."""
    person.page.set_viewport_size({"width": screen[0], "height": screen[1]})
    person.page.reload()
    return person.ready()


def test_the_question_page(practice: Instance, enter: Enter) -> None:
    ada = enter("Ada who looks", *SCREENS[0])
    ada.begin("Single: one question")
    item = ada.state()["items"][0]
    assert 870 <= len(item["text"]) <= 925
    in_sight = [
        "[data-document=main] .block",
        "[data-document=main] .link",
        "[data-field=text] [data-text]",
        "[data-field=context] .zone",
        "[data-field=links] .zone",
        "[data-save-state]",
        "[data-action=next]",
        "[data-action=submit]",
    ]
    for screen in reversed(SCREENS):
        frame = open_at(ada, screen)
        assert measure(frame, "outOfSight", in_sight) == []
        expect_one_bar(ada)
    expect_room_to_read(ada)
    frame = open_at(ada, SCREENS[0])
    page = QuestionPage(ada)
    (question,) = plan([item], 1, 1)
    page.write(question)
    in_sight += ["[data-field=context] .chip", "[data-field=links] .chip"]
    assert measure(frame, "outOfSight", in_sight) == []
    assert_calm(ada, frame)
    ada.wait_until_saved()
    frame = open_at(ada, SCREENS[1])
    assert measure(frame, "outOfSight", in_sight) == []
    assert_calm(ada, frame)


def test_the_answer_page(practice: Instance, enter: Enter) -> None:
    grace = enter("Grace who looks", *SCREENS[0])
    frame = grace.begin("Practice: five answers")
    expect_one_bar(grace)
    expect_room_to_read(grace)
    look_at_answers(grace, open_at(grace, SCREENS[0]))
    frame = open_at(grace, SCREENS[1])
    grace.click("[data-slot='0'] button")
    AnswerPage(grace).open_article(grace.state()["items"][0]["writer_links"][0])
    expect_side_by_side(grace, ".document-panel:first-child", ".document-panel:nth-child(2)")
    frame = open_at(grace, SCREENS[1])
    look_at_answers(grace, frame)


def look_at_answers(grace: Person, frame: Frame) -> None:
    """Check what is in sight at every question, from the first on."""
    in_sight = [
        "[data-document=question]",
        "[data-document=main] .block",
        ".card[data-type]",
        "[data-part=evidence] .zone",
        "[data-save-state]",
        "[data-action=next]",
        "[data-action=submit]",
    ]
    assert measure(frame, "outOfSight", in_sight) == []
    grace.click(".card[data-type=span]")
    assert measure(frame, "outOfSight", [*in_sight, "[data-field=spans] .zone"]) == []
    assert_calm(grace, frame)
    in_sight.remove("[data-document=main] .block")
    for item in grace.state()["items"][1:]:
        grace.click("[data-action=next]")
        # However long the question and the passage are, only the passage's end may be below.
        assert grace.texts("question") == [item["question"]]
        assert measure(frame, "outOfSight", in_sight) == []
        assert measure(frame, "linesInSight", "[data-document=main] .block") >= 6


def test_the_pages_about_a_story(instance: Instance, enter: Enter) -> None:
    ask = "Ask about a story that is looked at"
    instance.call(f"{STORIES}:open_stories", "looked-at", ask)
    ada, grace = enter("Ada of the story", *SCREENS[0]), enter("Grace of the story", *SCREENS[0])
    ada.begin(ask)
    written = {"question": "What does Bess, Susan or Tamar do?", "answer": "helps them"}
    look_at_form(ada, written)
    ada.click("[data-action=submit]")
    ada.expect_receipt()
    grace.begin(f"{ask} again")
    look_at_form(grace, {"answer": "brings help", "doubt": "It does not say."})
    instance.call(f"{ROWS}:put_away", "looked-at")


def look_at_form(person: Person, written: dict[str, str]) -> None:
    """Check what is in sight of a form about a text, empty and filled in, on both screens."""
    fields = [f"[data-field={name}] [data-text]" for name in written]
    for screen in reversed(SCREENS):
        frame = open_at(person, screen)
        expect_one_bar(person)
        assert measure(frame, "outOfSight", [*fields, *OF_FORM]) == []
        assert measure(frame, "linesInSight", A_TEXT) >= 6
    for name, words in written.items():
        person.click(f"#field-{name}")
        person.type(words)
    person.wait_until_saved()
    assert measure(frame, "outOfSight", [*fields, *OF_FORM]) == []
    assert_calm(person, frame, A_TEXT)
    assert faults(person.page, frame) == []
    expect_room_to_read(person)


def assert_calm(person: Person, frame: Frame, text: str = TEXTS) -> None:
    """Check scrollbars, size of letters, length of lines, the one primary button, and shifts.

    text: selects what is read.
    """
    for place in (person.page, frame):
        assert set(measure(place, "scrollers")) <= ({"html"} if place is frame else set())
    assert measure(frame, "smallerThan", 16, READ) == []
    lines = measure(frame, "linesOf", text)
    print(f"\n{person.name}: {len(lines)} lines of {min(lines)} to {max(lines)} characters")
    assert 55 <= median(lines) <= 80
    assert max(lines) <= 80
    assert len(measure(person.page, "primaries") + measure(frame, "primaries")) == 1
    assert measure(frame, "shifts") == []


def test_nothing_moves_when_advice_comes(practice: Instance, enter: Enter) -> None:
    ada = enter("Ada who is advised", *SCREENS[0])
    ada.begin("Practice: five questions")
    for screen in SCREENS:
        be_advised(ada, open_at(ada, screen))


def be_advised(ada: Person, frame: Frame) -> None:
    """Write what the page has something to say to, and check that nothing moves."""
    ada.click("[data-text]")
    ada.key("Control+a")
    ada.type("Why?")
    frame.wait_for_selector("[data-message=problem]")
    ada.click("[data-document=main] .document-title")
    frame.wait_for_selector(".message.wrong")
    assert measure(frame, "shifts") == []
    ada.click("[data-text]")
    ada.key("Control+a")
    item = ada.state()["items"][0]
    # A copied sentence brings the advice that no link is needed.
    ada.type(item["text"][slice(*item["sentences"][0])])
    frame.wait_for_selector("[data-message=hint]")
    ada.click("[data-action=submit]")
    frame.wait_for_selector("[data-problems]:not([hidden])")
    ada.page.wait_for_timeout(300)
    assert measure(frame, "shifts") == []


def test_few_actions_make_a_question(practice: Instance, enter: Enter) -> None:
    ada = enter("Ada who counts")
    ada.begin("Practice: five questions")
    page = QuestionPage(ada)
    counted = []
    for question in plan(list(page.items.values()), 3, 2):
        ada.actions = 0
        page.write(question)
        page.next()
        counted.append(ada.actions)
    ada.expect_progress("3 of 5 questions · 2 of 2 with 2+ links")
    print(f"\nactions beyond typing for each question: {counted}")
    assert max(counted) <= 6


def test_few_actions_make_an_answer_and_an_article_keeps_its_place(
    practice: Instance, enter: Enter
) -> None:
    grace = enter("Grace who counts", 1366, 560)
    frame = grace.begin("Practice: five answers")
    page = AnswerPage(grace)
    item = grace.state()["items"][0]
    title, passage = item["writer_links"][0], item["passage"]["text"]
    grace.actions = 0
    text = page.open_article(title)
    page.search(text.split(" ")[1])
    page.give(
        Given(
            "span",
            spans=(phrase(text, 1, 2, title),),
            evidence=(phrase(text, 4, 3, title), phrase(passage, 2, 2)),
        )
    )
    page.next()
    grace.expect_progress("1 of 5 answered")
    print(f"\nactions beyond typing for a one-span answer, with a search: {grace.actions}")
    assert grace.actions <= 8
    grace.click("[data-action=previous]")
    place = frame.evaluate("scrollTo(0, 60), scrollY")
    assert place == 60
    page.open_article(title)
    frame.evaluate("scrollTo(0, document.body.scrollHeight)")
    grace.click("[data-tab][aria-selected=true] [data-action=close-article]")
    assert page.tab == "main"
    assert frame.evaluate("scrollY") == place


def test_a_long_queue_has_no_scrollbar_of_its_own(practice: Instance, rita: Page) -> None:
    rita.goto("/collections/practice/qualification/question_qualification/")
    rita.evaluate(
        """() => document.querySelectorAll(".queue ol").forEach((list) => {
          for (let n = 0; n < 80; n += 1) list.append(list.firstElementChild.cloneNode(true));
          list.closest("details")?.setAttribute("open", "");
        })"""
    )
    assert measure(rita, "scrollers") == ["html"]


def test_the_warning_that_time_runs_out_is_read_whole(practice: Instance, enter: Enter) -> None:
    """With the button that gives more time beside it, on a screen of a usual laptop."""
    ada = enter("Ada who is late", 1366, 768)
    frame = ada.begin("Single: one question")
    said = "After 16:22 it still counts for an hour, as long as this HIT is free for you."
    is_whole = frame.evaluate(
        """(said) => {
          const bar = document.querySelector(".bar"), line = bar.querySelector("[data-bar-line]");
          bar.classList.add("is-loud");
          const more = bar.querySelector("[data-action=more]");
          Object.assign(more, { hidden: false, textContent: "30 minutes more" });
          line.textContent = said;
          const inBar = line.getBoundingClientRect().bottom <= bar.getBoundingClientRect().bottom;
          return line.scrollHeight <= line.clientHeight && inBar;
        }""",
        said,
    )
    assert is_whole
