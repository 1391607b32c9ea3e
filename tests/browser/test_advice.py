"""What the page says of the work and of the time: when it is due, and no longer."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Frame, Response, Route, expect

from tests.browser import EVERY_TEST
from tests.browser.answer_page import AnswerPage
from tests.browser.conftest import entering
from tests.browser.person import Person
from tests.serving import Instance

pytestmark = EVERY_TEST
TITLE = "Practice: five answers"
# What the page that was left sends of its last change.
SAVE = """async ([address, token, draft]) => (await fetch(address, {
  method: "POST", body: JSON.stringify(draft), credentials: "omit",
  headers: {"Content-Type": "application/json", Authorization: `Bearer ${token}`},
})).status"""


@pytest.fixture(scope="module")
def grace(
    practice: Instance, chromium: Browser, request: pytest.FixtureRequest
) -> Iterator[Person]:
    """Return Grace at her work, to which every test comes back by a reload."""
    with entering(practice, chromium, request) as enter:
        grace = enter("Grace who is advised")
        grace.begin(TITLE)
        yield grace


def come_back(grace: Person) -> Frame:
    """Reload the page; return the work in its frame, at the first question."""
    grace.page.reload()
    frame = grace.ready()
    grace.click("[data-slot='0'] button")
    return frame


def test_advice_goes_when_it_is_followed(grace: Person) -> None:
    frame = come_back(grace)
    grace.click("[data-action=submit]")
    panel = frame.locator("[data-problems]")
    expect(panel.locator("li")).to_have_count(1)
    expect(panel.locator("[data-problem]")).to_have_count(5)
    grace.click("[data-problem='1']")
    expect(frame.locator("[data-panel-title]")).to_have_text("Answer 2")
    advice = frame.locator("[data-messages] .wrong")
    expect(advice).to_have_text("Choose what kind of answer there is.")
    # No draft is saved any more, so nothing but the page itself can take the advice away.
    grace.page.route("**/hit/draft", lambda route: route.abort())
    grace.click("[data-type=none]")
    grace.click("[data-action=none-all-the-same]")
    expect(advice).to_have_count(0, timeout=500)
    grace.expect_progress("1 of 5 answered")
    grace.key("Control+z")
    expect(advice).to_have_count(1, timeout=500)
    grace.page.unroute("**/hit/draft")


def test_another_question_begins_without_the_words_looked_for(grace: Person) -> None:
    frame = come_back(grace)
    page = AnswerPage(grace)
    assert page.search("the")
    assert frame.locator(".found").count()
    page.next()
    expect(frame.locator("[data-search-text]")).to_have_value("")
    expect(frame.locator(".found")).to_have_count(0)


def test_work_that_a_reload_has_overtaken_leaves_the_hand_where_it_is(grace: Person) -> None:
    asked: list[Route] = []

    def hold_the_first(route: Route) -> None:
        if asked or "draft" in route.request.post_data_json:
            route.continue_()
        else:
            asked.append(route)

    def is_saved_at_the_first(answer: Response) -> bool:
        sent = answer.request.post_data_json if answer.url.endswith("/hit/draft") else {}
        return "draft" in sent and sent["draft"]["ui"]["item"] == first["id"]

    come_back(grace)
    first, *others = grace.state()["items"]
    # What the page saves of itself is behind it: another version would come between.
    with grace.page.expect_response(is_saved_at_the_first):
        grace.click("[data-slot='1'] button")
        grace.click("[data-slot='0'] button")
    grace.page.route("**/hit/draft", hold_the_first)
    grace.page.reload()
    frame = grace.ready()
    page = AnswerPage(grace)
    found = page.search("the")
    state = grace.state()
    second = {"item": others[0]["id"], "type": "bad", "reason": "It asks nothing."}
    late = {"data": {"answers": [second]}, "ui": {"item": second["item"]}}
    saving = {"version": state["draft_version"], "draft": late}
    assert frame.evaluate(SAVE, [state["urls"]["draft"], state["token"], saving]) == 200
    asked[0].continue_()
    grace.expect_progress("1 of 5 answered")
    expect(frame.locator("[data-panel-title]")).to_have_text("Answer 1")
    expect(frame.locator("[data-search-text]:focus")).to_have_value("the")
    expect(frame.locator("[data-search-count]")).to_have_text(found)
    assert frame.locator(".found").count()
    grace.page.unroute("**/hit/draft")


def test_a_second_tab_that_only_looks_around_is_no_conflict(grace: Person) -> None:
    frame = come_back(grace)
    AnswerPage(grace).choose("value")
    grace.wait_until_saved()
    other = Person(grace.name, grace.instance, grace.context)
    other.page.goto(grace.page.url)
    other.ready()
    with other.page.expect_response("**/hit/draft"):
        other.click("[data-slot='1'] button")
    grace.page.bring_to_front()
    with grace.page.expect_response("**/hit/draft") as saved:
        AnswerPage(grace).choose("binary")
    assert saved.value.status == 409
    grace.wait_until_saved()
    assert not frame.query_selector("[data-dialog=conflict][open]")
    other.page.close()


def test_the_foot_stays_whatever_the_answer_is(grace: Person) -> None:
    frame = come_back(grace)
    foot = frame.locator("[data-action=next]")
    before = foot.bounding_box()
    for kind in ("span", "value", "binary", "none", "bad"):
        AnswerPage(grace).choose(kind)
        assert foot.bounding_box() == before, kind


def test_the_caret_stays_in_the_text(grace: Person) -> None:
    frame = come_back(grace)
    page = AnswerPage(grace)
    title = grace.state()["items"][0]["writer_links"][0]
    page.open_article(title)
    grace.key("t")
    inside = "getSelection().focusNode.parentElement.closest('.block') !== null"
    for key in ("ArrowRight", "ArrowUp", "ArrowUp", "ArrowLeft", "ArrowLeft", "Shift+ArrowUp"):
        grace.key(key)
        assert frame.evaluate(inside), key
    for _ in range(40):
        grace.key("ArrowDown")
        assert frame.evaluate(inside)


def test_more_time_moves_the_one_deadline_of_page_and_frame(grace: Person) -> None:
    # From here on Grace's clock is the test's: this test comes last.
    grace.page.clock.install()
    come_back(grace)
    face, frame = grace.page.locator("#countdown"), grace.frame
    shown, more = frame.locator("[data-bar-time]"), frame.locator("[data-action=more]")
    ends = grace.state()["expires_at"]
    assert ends == float(face.get_attribute("data-deadline") or 0)
    assert not more.is_visible()
    seconds = round(ends - grace.state()["server_now"])
    grace.page.clock.fast_forward((seconds - 599) * 1000)
    grace.page.clock.run_for(1100)
    expect(shown).to_have_text(re.compile(r"^9:5\d left$"))
    expect(frame.locator(".bar [data-bar-line]")).to_contain_text("it still counts for an hour")
    with grace.page.expect_response(lambda answer: answer.url.endswith("/extend")) as told:
        more.click()
    longer = told.value.json()["expires_at"]
    assert longer == float(face.get_attribute("data-deadline") or 0) > ends
    grace.page.clock.run_for(1100)
    expect(shown).to_have_text(re.compile("^until "))
    assert not more.is_visible()
