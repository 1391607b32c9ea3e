"""Two requesters reject a person's work and take it back; what came without work is paid."""

from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser import EVERY_TEST
from tests.browser.conftest import Enter
from tests.browser.person import PATIENCE_MS, Person
from tests.browser.question_page import QuestionPage, plan
from tests.browser.row_assertions import ROWS
from tests.serving import Instance

pytestmark = EVERY_TEST
SLUG = "waiting"
TITLE = "Waiting: one question"
REASON = "The question is copied from the paragraph."
WORK = f"/collections/{SLUG}/money/work/"


@pytest.fixture
def grace(instance: Instance, chromium: Browser) -> Iterator[Page]:
    """Return the browser of a second requester, who has signed in."""
    instance.call(f"{ROWS}:add_requester", "grace", "a quiet word")
    context = chromium.new_context(base_url=instance.collector_url, locale="en-GB")
    page = context.new_page()
    page.set_default_timeout(15_000)
    page.goto("/sign-in/")
    page.get_by_label("Name").fill("grace")
    page.get_by_label("Password").fill("a quiet word")
    page.get_by_role("button", name="Sign in").click()
    yield page
    context.close()


def test_a_rejection_takes_two_and_is_taken_back(
    instance: Instance, enter: Enter, rita: Page, grace: Page
) -> None:
    instance.call(f"{ROWS}:open_waiting", SLUG, TITLE)
    mallory = enter("Mallory")
    words = hand_in(mallory)
    find(rita, "waiting", "Read")
    assert rita.locator(".question-text").inner_text().endswith(words)
    rita.get_by_text("Propose to reject it").click()
    rita.get_by_label("Reason").fill(REASON)
    rita.get_by_role("button", name="Propose the rejection").click()
    expect(rita.get_by_text("you yourself from")).to_be_visible()
    expect(rita.get_by_role("button", name="Confirm rejection")).to_have_count(0)
    find(grace, "proposed", "Read")
    assert grace.locator(".question-text").inner_text().endswith(words)
    press(grace, "Confirm rejection", "I have read both.")
    wait_for(grace, "The worker was told:")
    assert instance.call(f"{ROWS}:pay", SLUG)["spent"] == 0
    wait_in_history(mallory, "Rejected", REASON)
    press(grace, "Take the rejection back", "The paragraph says less than I thought.")
    wait_for(grace, "There is nothing left to decide.")
    wait_in_history(mallory, "Approved", "$1.20")
    paid = instance.call(f"{ROWS}:pay", SLUG)
    assert (paid["spent"], paid["payments"]) == (132, [[120, "confirmed", ""]])
    without_work(instance, enter, rita)
    nothing_is_cut_on_a_phone(rita)
    instance.call(f"{ROWS}:put_away", SLUG)


def without_work(instance: Instance, enter: Enter, rita: Page) -> None:
    """Somebody hands a HIT in without having done it; Rita is told, looks, and pays."""
    ada = enter("Ada")
    ada.accept(TITLE)
    claimed = parse_qs(urlsplit(ada.frame.url).query)
    ada.context.request.post(
        f"{claimed['turkSubmitTo'][0]}/mturk/externalSubmit",
        form={"assignmentId": claimed["assignmentId"][0], "code": "I lost it"},
    )
    rita.goto(f"/collections/{SLUG}/")
    wait_for(rita, "1 HIT was submitted empty")
    rita.get_by_role("link", name="1 HIT was submitted empty").click()
    rita.get_by_role("link", name="Look into it").click()
    expect(rita.get_by_text("I lost it")).to_be_visible()
    rita.get_by_role("button", name="Pay $1.20").click()
    wait_for(rita, "There is nothing left to decide.")
    wait_in_history(ada, "Approved", "$1.20")
    paid = instance.call(f"{ROWS}:pay", SLUG)
    assert (paid["spent"], len(paid["payments"])) == (264, 2)
    assert paid["payments"][1][2] == "Submitted empty; approved by owner."


def nothing_is_cut_on_a_phone(rita: Page) -> None:
    """No table that says who was paid what goes on beyond the edge of a phone."""
    rita.set_viewport_size({"width": 390, "height": 844})
    for path in ("money/", "money/work/?show=paid", "workers/", "workers/1/", "people/"):
        rita.goto(f"/collections/{SLUG}/{path}")
        expect(rita.locator(".table-frame").first).to_be_visible()
        frames = ".map(each => each.scrollWidth - each.clientWidth)"
        assert set(rita.evaluate(f"[...document.querySelectorAll('.table-frame')]{frames}")) == {0}


def hand_in(person: Person) -> str:
    """Let a person ask the one question; return its text."""
    person.begin(TITLE)
    page = QuestionPage(person)
    question = plan(list(page.items.values()), 1, 0)[0]
    page.write(question)
    page.submit()
    person.expect_receipt()
    return question.text


def find(page: Page, name: str, label: str) -> None:
    """Open the one assignment of a list, once it is there."""
    page.goto(f"{WORK}?show={name}")
    link = page.get_by_role("link", name=label)
    for _ in range(PATIENCE_MS // 1000):
        if link.count():
            break
        page.wait_for_timeout(1000)
        page.reload()
    link.click()


def press(page: Page, button: str, why: str) -> None:
    """Say why, and decide."""
    page.get_by_label("Why").fill(why)
    page.get_by_role("button", name=button).click()


def wait_for(page: Page, words: str) -> None:
    """Look at the page again until it says so."""
    for _ in range(PATIENCE_MS // 1000):
        if page.get_by_text(words).count():
            return
        page.wait_for_timeout(1000)
        page.goto(page.url)
    raise AssertionError(f"{words}: {page.inner_text('main')}")


def wait_in_history(person: Person, *words: str) -> None:
    """Look at a worker's history until it says so."""
    for _ in range(PATIENCE_MS // 1000):
        person.page.goto(person.at("history/"))
        text = person.page.inner_text("main")
        if all(word in text for word in words):
            return
        person.page.wait_for_timeout(1000)
    raise AssertionError(f"{words}: {text}")
