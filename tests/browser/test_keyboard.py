"""A question HIT and an answer HIT by keyboard alone, from the front door to the receipt."""

from playwright.sync_api import expect

from tests.browser import EVERY_TEST
from tests.browser.answer_page import Given, quoted
from tests.browser.conftest import Enter
from tests.browser.keyboard import Keyboard
from tests.browser.person import Person
from tests.browser.phrase import phrase
from tests.browser.question_page import plan
from tests.browser.row_assertions import ROWS, assert_answers_are_kept, assert_questions_are_kept
from tests.serving import Instance

pytestmark = EVERY_TEST


def sign_in(person: Person, keyboard: Keyboard) -> None:
    """Open the front door, whose one field has the focus."""
    person.page.goto(person.at(""))
    person.page.wait_for_selector("#name:focus")
    person.type(person.name)
    person.key("Enter")
    expect(person.page.get_by_role("heading", name="HITs for you")).to_be_visible()


def begin(person: Person, keyboard: Keyboard, title: str) -> None:
    """Accept a HIT, agree, and put the instructions away."""
    person.wait_for_hit(title)
    for _ in range(60):
        person.key("Tab")
        if person.page.evaluate("document.activeElement.textContent") == f"Accept {title}":
            break
    person.key("Enter")
    frame = person.frame
    frame.wait_for_selector("[data-page=consent]")
    keyboard.tab_to(frame, "[data-action=agree]")
    person.key("Enter")
    frame.wait_for_selector("[data-dialog=instructions][open]")
    if not frame.evaluate("document.hasFocus()"):
        keyboard.tab_to(frame, "*")
    person.key("Escape")
    frame.wait_for_selector("[data-dialog=instructions]:not([open])", state="attached")


def test_five_questions_without_a_mouse(practice: Instance, enter: Enter) -> None:
    ada = enter("Ada of the keys", sign_in=False)
    keyboard = Keyboard(ada)
    sign_in(ada, keyboard)
    begin(ada, keyboard, "Practice: five questions")
    frame = ada.frame
    questions = plan(ada.state()["items"], 5, 2)
    for number, question in enumerate(questions):
        if number:
            # Out of the field, to the next paragraph.
            keyboard.tab_to(frame, "button")
            ada.key("]")
        ada.key("t")
        keyboard.select("main", question.evidence.words, question.evidence.occurrence)
        ada.key("Enter")
        for title in question.links[:1]:
            keyboard.tab_to(frame, "[data-links] button")
            while not keyboard.focused(frame, f"[data-link-title={quoted(title)}]"):
                ada.key("ArrowDown")
            ada.key("Enter")
        for title in question.links[1:]:
            ada.key("t")
            link = frame.query_selector(f"[data-document=main] [data-link-title={quoted(title)}]")
            assert link
            keyboard.go_to("main", link.inner_text(), inside=1)
            ada.key("Enter")
            keyboard.tab_to(frame, "button")
        ada.key("w")
        ada.type(question.text)
        if number < len(questions) - 1:
            ada.key("Control+Enter")
    ada.expect_progress("5 of 5 questions · 2 of 2 with 2+ links")
    keyboard.tab_to(frame, "[data-action=submit]", back=True)
    ada.key("Enter")
    ada.expect_receipt()
    rows = practice.call(f"{ROWS}:questions", "practice", "question_qualification")
    assert_questions_are_kept(rows[-5:], questions)


def test_five_answers_without_a_mouse(practice: Instance, enter: Enter) -> None:
    grace = enter("Grace of the keys", sign_in=False)
    keyboard = Keyboard(grace)
    sign_in(grace, keyboard)
    begin(grace, keyboard, "Practice: five answers")
    first = grace.state()["items"][0]
    passage, title = first["passage"]["text"], first["writer_links"][0]
    link = next(link for link in first["passage"]["links"] if link["title"] == title)
    # The link's article, opened from the caret; its words are the answer and half of the proof.
    grace.key("t")
    keyboard.go_to("main", passage[link["start"] : link["end"]], inside=1)
    grace.key("Enter")
    grace.frame.wait_for_selector(f"[data-tab={quoted(title)}][aria-selected=true]")
    text = grace.texts(title)[0]
    spans, proof = phrase(text, 1, 2, title), (phrase(text, 4, 2, title), phrase(passage, 1, 2))
    grace.key("t")
    keyboard.select(title, spans.words, spans.occurrence)
    grace.key("Enter", "e")
    keyboard.select(title, proof[0].words, proof[0].occurrence)
    grace.key("Enter", "c", "t")
    keyboard.select("main", proof[1].words, proof[1].occurrence)
    grace.key("Enter", "Control+Enter")
    given = [Given("span", spans=(spans,), evidence=proof)]
    given += [type_answer(grace, keyboard, number) for number in range(1, 5)]
    grace.expect_progress("5 of 5 answered")
    keyboard.tab_to(grace.frame, "[data-action=submit]", back=True)
    grace.key("Enter")
    grace.expect_receipt()
    rows = practice.call(f"{ROWS}:answers", "practice", "answer_qualification")
    assert_answers_are_kept(rows[-5:], given)


def type_answer(person: Person, keyboard: Keyboard, number: int) -> Given:
    """Answer without opening an article: a number, a yes, a bad question, else no answer."""
    item = person.state()["items"][number]
    sentence = item["passage"]["text"][slice(*item["passage"]["sentences"][0])]
    proof = phrase(sentence, 0, len(sentence.split(" ")))
    given = {
        1: Given("value", value="12", unit="years", evidence=(proof,)),
        2: Given("binary", yes_no="yes", evidence=(proof,)),
        3: Given("bad", reason="It makes no sense."),
    }.get(number, Given("none"))
    person.key({"value": "v", "binary": "y", "bad": "b", "none": "u"}[given.type])
    if given.value:
        person.type(given.value)
        person.key("Tab")
        person.type(given.unit)
    if given.reason:
        person.key("Space")
    if given.type == "none":
        # No article was opened: the page asks, once.
        keyboard.tab_to(person.frame, "[data-action=none-all-the-same]")
        person.key("Enter")
    if given.evidence:
        keyboard.tab_to(person.frame, "[data-part=evidence] [data-sentence]")
        person.type("1")
        person.key("Enter")
    if number < 4:
        person.key("Control+Enter")
    else:
        keyboard.tab_to(person.frame, "button")
    return given
