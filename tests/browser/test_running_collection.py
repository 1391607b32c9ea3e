"""A collection that runs: its pay is changed, its site moves to another port, it is finished."""

import signal
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser import EVERY_TEST
from tests.browser.axe_violations import faults
from tests.browser.conftest import Enter
from tests.browser.person import PATIENCE_MS
from tests.browser.row_assertions import ROWS
from tests.services import free_port
from tests.serving import Instance

WRITE = "Write headlines while it runs"
SLUG = "running"
PAGE = f"/collections/{SLUG}"

pytestmark = EVERY_TEST


@pytest.fixture
def running(instance: Instance) -> Iterator[Instance]:
    """Return the instance with a collection of headlines open, two HITs at a time."""
    chosen = ("--protocol", "headline", "--corpus", "quarnsey", "--budget", "20")
    own = ("--set", "text.places_at_once=2", "--set", f'text.title="{WRITE}"')
    instance.run("create_collection", SLUG, *chosen, *own)
    instance.run("select_seeds", SLUG, "--count", "4")
    instance.run("publish", SLUG)
    yield instance
    instance.call(f"{ROWS}:put_away", SLUG)


def move(instance: Instance) -> None:
    """Stop the instance and serve it on another port."""
    instance.close()
    instance.stop(signal.SIGTERM)
    port = free_port()
    instance.environment["PORT"] = str(port)
    instance.collector_url = f"http://localhost:{port}"
    instance.marketplace_url = f"http://127.0.0.1:{port}"
    instance.start()


def look_on_in_an_outage(rita: Page) -> None:
    """Keep the collection's page open while the server is away for a moment."""
    rita.clock.install()
    rita.goto(f"{PAGE}/")
    said = rita.get_by_text("The server does not answer: this is how it was.")
    rita.route("**/now/", lambda route: route.fulfill(status=503))
    rita.clock.run_for(6000)
    expect(said).to_be_visible()
    rita.unroute("**/now/")
    rita.clock.run_for(6000)
    expect(said).to_be_hidden()


def raise_pay(rita: Page) -> None:
    """Change what a headline HIT pays: look at what it costs first, then save."""
    rita.goto(f"{PAGE}/")
    rita.get_by_role("link", name="Settings").click()
    field = rita.get_by_label("Pay of a HIT").first
    before = field.input_value()
    field.fill("0.55")
    rita.get_by_role("button", name="See what it changes").click()
    shown = rita.get_by_role("status").filter(has_text="What it changes")
    expect(shown).to_contain_text(f"€{before} → €0.55")
    expect(shown).to_contain_text("2 HITs are up already and stay as they are.")
    assert faults(rita, rita.main_frame) == []
    rita.get_by_label("Why").fill("It takes longer than we thought.")
    rita.get_by_role("button", name="Save").click()
    expect(rita.get_by_text("It holds for everything posted from now on.")).to_be_visible()


def finish(rita: Page) -> None:
    """Finish the collection after reading what that does."""
    rita.goto(f"{PAGE}/finish/")
    expect(rita.get_by_text("1 HIT that nobody works on is taken down")).to_be_visible()
    expect(rita.get_by_text("1 person at work")).to_be_visible()
    assert faults(rita, rita.main_frame) == []
    rita.get_by_role("button", name="Finish this collection").click()
    expect(rita.get_by_role("heading", name="This collection is finished")).to_be_visible()


def test_work_goes_on_while_the_collection_changes(
    running: Instance, enter: Enter, rita: Page
) -> None:
    ada = enter("Ada")
    frame = ada.begin(WRITE)
    paid = ada.state()["reward"]
    frame.fill("#field-headline", "Ada: the first")
    ada.wait_until_saved()
    raise_pay(rita)
    look_on_in_an_outage(rita)
    move(running)
    ada.page.goto(ada.at("hits/"))
    ada.page.get_by_role("link", name=WRITE).first.click()
    frame = ada.ready()
    expect(frame.locator("#field-headline")).to_have_value("Ada: the first")
    assert ada.state()["reward"] == paid
    rita = rita.context.browser.new_context(base_url=running.collector_url).new_page()  # type: ignore[union-attr]
    finish(rita)
    frame.click("[data-action=next]")
    frame.fill("#field-headline", "Ada: the second")
    ada.expect_progress("2 of 2 done")
    ada.click("[data-action=submit]")
    ada.expect_receipt()
    reserved = rita.get_by_text("Reserved").locator("xpath=following-sibling::dd")
    rita.goto(f"{PAGE}/")
    expect(reserved).to_have_text("€0.00", timeout=PATIENCE_MS)
    expect(rita.get_by_text("Paid, confirmed").locator("xpath=following-sibling::dd")).to_have_text(
        paid, timeout=PATIENCE_MS
    )
    grace = enter("Grace")
    assert WRITE not in grace.page.inner_text("main")
