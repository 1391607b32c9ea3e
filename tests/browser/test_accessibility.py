"""axe finds no serious fault on the pages that show work, in light and in dark."""

from playwright.sync_api import Page, expect

from tests.browser import EVERY_TEST
from tests.browser.answer_page import AnswerPage
from tests.browser.axe_violations import AS_SEEN, SERIOUS, faults
from tests.browser.conftest import Enter
from tests.browser.person import Person
from tests.browser.question_page import QuestionPage, plan
from tests.serving import Instance

pytestmark = EVERY_TEST


def test_a_hit_in_the_marketplace(practice: Instance, enter: Enter) -> None:
    ada = enter("Ada of the list")
    title = "Single: one question"
    ada.wait_for_hit(title)
    found = faults(ada.page)
    ada.page.get_by_role("link", name=f"Preview {title}").click()
    ada.frame.wait_for_selector("[data-page=preview]")
    found += faults(ada.page, impacts=(*SERIOUS, "moderate")) + faults(ada.page, ada.frame)
    click_through_the_sample(ada)
    found += faults(ada.page, ada.frame)
    ada.begin(title)
    assert found + faults(ada.page) == []


def click_through_the_sample(person: Person) -> None:
    """Look at the bad attempt up to its second step, then at the end of the good one."""
    frame = person.frame
    good, bad = frame.locator("[data-attempt]").all()
    person.click("[data-attempt-of='1']")
    expect(good).to_be_hidden()
    bad.locator("[data-show-step='2']").click()
    expect(bad.locator(".just-now")).to_have_text("she and her father rescued nineteen people")
    expect(bad.locator(".attempt-why")).to_be_hidden()
    person.click("[data-attempt-of='0']")
    good.locator("[data-step='3']").click()
    expect(good.locator(".attempt-why")).to_contain_text("it takes both")


def test_the_question_page_from_consent_to_refusal(practice: Instance, enter: Enter) -> None:
    ada = enter("Ada of the questions")
    ada.accept("Practice: five questions")
    frame = ada.frame
    frame.wait_for_selector("[data-page=consent]")
    found = faults(ada.page, frame, rules=AS_SEEN)
    frame.click("[data-action=agree]")
    frame.wait_for_selector("[data-dialog=instructions][open]")
    found += faults(ada.page, frame, rules=AS_SEEN)
    ada.ready()
    page = QuestionPage(ada)
    for question in plan(list(page.items.values()), 2, 1):
        page.write(question)
        page.next()
    ada.click("[data-action=submit]")
    frame.wait_for_selector("[data-problems]:not([hidden])")
    found += faults(ada.page, frame, rules=AS_SEEN)
    for name in ("preferences", "report"):
        frame.click("[data-action=menu]")
        found += faults(ada.page, frame, "[data-menu]")
        frame.click(f"[data-action={name}]")
        found += faults(ada.page, frame, "dialog[open]")
        frame.press(f"[data-dialog={name}]", "Escape")
    # What returning means the marketplace says.
    frame.click(".bar-return")
    expect(ada.page.get_by_role("dialog", name="Return this HIT?")).to_be_visible()
    found += faults(ada.page)
    assert found == []


def test_the_answer_page_with_an_article_open(practice: Instance, enter: Enter) -> None:
    grace = enter("Grace of the answers")
    frame = grace.begin("Practice: five answers")
    found = faults(grace.page, frame, rules=AS_SEEN)
    page = AnswerPage(grace)
    item = grace.state()["items"][0]
    text = page.open_article(item["writer_links"][0])
    page.search(text.split(" ")[0])
    found += faults(grace.page, frame, rules=AS_SEEN)
    for kind in ("span", "value", "binary", "none", "bad"):
        grace.click(f".card[data-type={kind}]")
        found += faults(grace.page, frame, ".panel", rules=AS_SEEN)
    assert found == []


def test_a_notice(practice: Instance, enter: Enter) -> None:
    ada = enter("Ada who declines")
    ada.accept("Single: one question")
    frame = ada.frame
    frame.click("[data-action=decline]")
    frame.wait_for_selector("[data-page=notice]")
    assert faults(ada.page, frame) == []
    ada.page.goto(f"{practice.collector_url}/hit/?hitId=UNKNOWN")
    ada.page.wait_for_selector("[data-page=notice]")
    assert faults(ada.page) == []


def test_the_page_on_which_a_requester_reads_work(practice: Instance, rita: Page) -> None:
    response = rita.goto("/collections/practice/qualification/question_qualification/1/")
    assert response
    assert response.status == 200
    assert faults(rita) == []
