"""Tests of opening, pausing and closing, and of the budget."""

from itertools import product
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone
from django.utils.html import escape

from annotation.dashboard.collections.views import cents_of
from annotation.dashboard.tests.making import make_lines
from collector.models import Collection, CollectionState, StageState
from collector.protocols.creation import parameters_of, revise
from common.tests.forms import hidden_in
from tasks.costs import estimate, totals
from tasks.crowd.requester_api import MarketplaceError
from tasks.lifecycle import publication
from tasks.pages.wording import price
from tasks.tests.making import make_collection, stage_of
from tasks.work.kinds.hit_words import title_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def pilot(rita: Client, monkeypatch: pytest.MonkeyPatch) -> Collection:
    """Return a draft with seeds; the marketplace answers."""
    monkeypatch.setattr(publication, "call", lambda operation: {})
    collection = make_collection(slug="pilot")
    collection.stages.update(state=StageState.DRAFT)
    Collection.objects.update(state=CollectionState.DRAFT)
    return collection


def post(rita: Client, path: str, **fields: str) -> str:
    """Return the page one is led to."""
    address, pages = f"/collections/pilot/{path}", ("", "publish/")
    shown = "".join(rita.get(f"/collections/pilot/{page}").content.decode() for page in pages)
    form = hidden_in(shown, address) | fields
    return rita.post(address, form, follow=True).content.decode()


def states(collection: Collection) -> set[str]:
    """Return the states of the collection's stages."""
    return set(collection.stages.values_list("state", flat=True))


def test_publishing_opens_every_stage(rita: Client, pilot: Collection) -> None:
    assert "The first HITs appear" in post(rita, "publish/")
    pilot.refresh_from_db()
    assert pilot.state == CollectionState.COLLECTING
    assert states(pilot) == {StageState.OPEN}


def test_publishing_asks_once_with_the_money_of_each_stage_and_what_stays_fixed(
    rita: Client, pilot: Collection
) -> None:
    assert 'href="/collections/pilot/publish/"' in rita.get("/collections/pilot/").content.decode()
    page = rita.get("/collections/pilot/publish/").content.decode()
    pilot.refresh_from_db()
    assert pilot.state == CollectionState.DRAFT
    assert "What cannot be changed afterwards" in page
    parameters, rows = parameters_of(pilot), estimate(pilot)
    for row in rows:
        assert escape(title_of(parameters.stages()[row.stage.name])) in page
        assert f'data-of="At most">{price(row.maximum_cents, parameters)}</td></tr>' in page
        assert row.expected_cents == row.hits * parameters.stages()[row.stage.name].reward_cents
        assert f'data-of="HITs expected">{row.hits}</td>' in page
    assert price(totals(pilot, rows).maximum, parameters) in page
    post(rita, "publish/")
    again = rita.get("/collections/pilot/publish/")
    assert again["Location"] == "/collections/pilot/"


def test_the_page_says_what_opens_and_which_labels_it_locks(rita: Client, settings: Any) -> None:
    lines = make_lines(settings)
    page = rita.get("/collections/lines/publish/").content.decode()
    opens = page.partition('id="opens"')[2].partition("</section>")[0]
    for stage in lines.stages.all():
        assert f'action="/collections/lines/stages/{stage.name}/open/"' in opens
    assert opens.count("are locked from then on") == 1
    lines.stages.filter(kind="label").update(state=StageState.CLOSED)
    page = rita.get("/collections/lines/publish/").content.decode()
    assert "are locked from then on" not in page


def amount_on(page: str, action: str) -> str:
    """Return the amount that the form with this action carries."""
    form = page.partition(f'action="/collections/pilot/{action}"')[2].partition("</form>")[0]
    return form.partition('name="maximum" value="')[2].partition('"')[0]


def raise_pay(pilot: Collection, cents: int) -> None:
    """Raise the pay of a question HIT, as a colleague may."""
    wanted = {"question.reward_cents": cents}
    revise(pilot, wanted, why="Fairer.", by="grace", now=timezone.now())


def test_pay_that_was_raised_after_the_page_was_shown_is_shown_before_it_is_bound(
    rita: Client, pilot: Collection
) -> None:
    seen = amount_on(rita.get("/collections/pilot/publish/").content.decode(), "publish/")
    assert seen
    raise_pay(pilot, 900)
    for path, amount in product(("publish/", "stages/question/open/"), (seen, "", "much")):
        page = post(rita, path, maximum=amount)
        assert "Look at the amounts again" in page
        assert "Publish this collection?" in page
        assert states(pilot) == {StageState.DRAFT}
    now = amount_on(page, "publish/")
    assert int(now) > int(seen)
    assert amount_on(page, "stages/question/open/") == now
    assert "The first HITs appear" in post(rita, "publish/", maximum=now)
    pilot.refresh_from_db()
    assert pilot.maximum_cents == int(now)


def test_a_stage_is_opened_for_what_the_overview_says(rita: Client, pilot: Collection) -> None:
    post(rita, "stages/question/open/")
    path = "stages/answer/open/"
    seen = amount_on(rita.get("/collections/pilot/").content.decode(), path)
    raise_pay(pilot, 900)
    page = post(rita, path, maximum=seen)
    assert "Look at the amounts again" in page
    assert stage_of(pilot, "answer").state == StageState.DRAFT
    post(rita, path, maximum=amount_on(page, path))
    assert stage_of(pilot, "answer").state == StageState.OPEN
    post(rita, "pause/")
    assert amount_on(rita.get("/collections/pilot/").content.decode(), "publish/")


def test_one_stage_can_be_opened_alone(rita: Client, pilot: Collection) -> None:
    post(rita, "stages/question/open/")
    assert stage_of(pilot, "question").state == StageState.OPEN
    assert stage_of(pilot, "answer").state == StageState.DRAFT


def test_pausing_and_resuming_leave_a_closed_stage_closed(rita: Client, pilot: Collection) -> None:
    post(rita, "publish/")
    assert "Answer is closed." in post(rita, "stages/answer/close/")
    assert "Nobody gets new work" in post(rita, "pause/")
    assert "Resume" in rita.get("/collections/pilot/").content.decode()
    assert "Work is handed out again." in post(rita, "publish/")
    assert stage_of(pilot, "answer").state == StageState.CLOSED
    assert stage_of(pilot, "question").state == StageState.OPEN


def test_resuming_with_every_stage_closed_says_to_open_one(rita: Client, pilot: Collection) -> None:
    pilot.stages.update(state=StageState.CLOSED)
    Collection.objects.update(state=CollectionState.PAUSED)
    page = rita.get("/collections/pilot/").content.decode()
    assert "Paused, and every stage is closed. Open one below" in page
    assert "Resume" not in page
    seen = amount_on(page, "stages/answer/open/")
    # As a page says that was open before the last one was closed.
    assert "Every stage is closed: open one below" in post(rita, "publish/", maximum=seen)
    post(rita, "stages/answer/open/", maximum=seen)
    assert stage_of(pilot, "answer").state == StageState.OPEN
    assert stage_of(pilot, "question").state == StageState.CLOSED


def test_the_command_names_what_stays_closed(
    pilot: Collection, capsys: pytest.CaptureFixture[str]
) -> None:
    pilot.stages.filter(name="answer").update(state=StageState.CLOSED)
    call_command("publish", "pilot")
    assert "answer stays closed." in capsys.readouterr().out
    call_command("publish", "pilot", "--stage", "answer")
    assert "stays closed" not in capsys.readouterr().out
    assert stage_of(pilot, "answer").state == StageState.OPEN


def test_closing_an_unknown_stage_is_nowhere(rita: Client, pilot: Collection) -> None:
    assert rita.post("/collections/pilot/stages/nothing/close/").status_code == 404


def test_opening_an_unknown_stage_changes_nothing(rita: Client, pilot: Collection) -> None:
    seen = amount_on(rita.get("/collections/pilot/publish/").content.decode(), "publish/")
    assert "There is no stage" in post(rita, "stages/nothing/open/", maximum=seen)
    assert states(pilot) == {StageState.DRAFT}


@pytest.mark.parametrize(
    ("permanent", "sentence"),
    [(True, "The marketplace refused: no such account"), (False, "does not answer. Start it")],
)
def test_a_marketplace_that_fails_changes_nothing(
    rita: Client,
    pilot: Collection,
    monkeypatch: pytest.MonkeyPatch,
    permanent: bool,
    sentence: str,
) -> None:
    def fail(operation: str) -> Any:
        raise MarketplaceError("no such account", permanent=permanent)

    monkeypatch.setattr(publication, "call", fail)
    assert sentence in post(rita, "publish/")
    pilot.refresh_from_db()
    assert pilot.state == CollectionState.DRAFT
    assert states(pilot) == {StageState.DRAFT}


def test_publishing_without_money_for_a_hit_leads_to_the_budget(
    rita: Client, pilot: Collection
) -> None:
    make_collection(pilot.corpus, slug="other")
    Collection.objects.filter(slug="other").update(budget_cents=0)
    reply = rita.post("/collections/other/publish/", follow=True).content.decode()
    assert "does not pay a single HIT" in reply
    assert "The whole collection costs" not in reply
    Collection.objects.filter(slug="other").update(state=CollectionState.DRAFT)
    other = Collection.objects.get(slug="other")
    most = price(totals(other, estimate(other)).maximum, parameters_of(other))
    page = rita.get("/collections/other/").content.decode()
    assert f"The whole collection costs {most} at most." in page
    assert 'href="#budget">Set the budget' in page


def test_publishing_a_collection_without_seeds_says_where_to_choose(
    rita: Client, pilot: Collection
) -> None:
    for unit in [unit for stage in pilot.stages.all() for unit in stage.units.all()]:
        unit.items.all().delete()
    pilot.seeds.all().delete()
    assert "Choose some under Seeds" in post(rita, "publish/")


def test_the_budget_is_set_and_remembered(rita: Client, pilot: Collection) -> None:
    assert "The budget is $1,500.50." in post(rita, "budget/", budget="$1,500.50")
    pilot.refresh_from_db()
    assert pilot.budget_cents == 150_050
    assert pilot.revisions.get().new == 150_050


def test_a_budget_that_stays_what_it_was_is_no_change(rita: Client, pilot: Collection) -> None:
    assert "The budget is $1,000.00." in post(rita, "budget/", budget="$1,000.00")
    assert not pilot.revisions.exists()


@pytest.mark.parametrize("typed", ["", "much", "-5", "1.005", "nan", "inf", "1e99"])
def test_a_budget_that_is_no_amount_is_refused(rita: Client, pilot: Collection, typed: str) -> None:
    assert "Write the budget as a number" in post(rita, "budget/", budget=typed)
    pilot.refresh_from_db()
    assert pilot.budget_cents == 100_000


def test_a_budget_below_what_is_bound_is_refused(rita: Client, pilot: Collection) -> None:
    Collection.objects.update(reserved_cents=500, spent_cents=700)
    page = post(rita, "budget/", budget="11.99")
    assert "$12.00 are reserved or spent already" in page
    assert 'value="11.99" aria-invalid="true"' in page


def test_amounts_are_read_by_the_currency_s_minor_units() -> None:
    assert cents_of("12.5", 2) == 1250
    assert cents_of("12", 0) == 12
    assert cents_of("12.5", 0) is None


@pytest.mark.parametrize(("state", "words"), [("paused", "Paused"), ("finished", "Finished")])
def test_no_stage_is_called_open_while_nobody_gets_work(
    rita: Client, pilot: Collection, state: str, words: str
) -> None:
    post(rita, "publish/")
    assert "state-open" in rita.get("/collections/pilot/").content.decode()
    Collection.objects.update(state=state)
    page = rita.get("/collections/pilot/").content.decode()
    assert "state-open" not in page
    assert page.count(f">{words}</span>") == 1 + pilot.stages.count()
