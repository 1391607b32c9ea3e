"""Tests of finishing a collection and reopening it, on its pages and by the command."""

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotation.dashboard.tests.making import (
    make_answer,
    make_attempt,
    make_empty_submission,
    make_lease,
    make_question,
    make_verdict,
    plain,
    send,
)
from annotation.jobs import decide
from annotation.models import Verdict
from collector.models import Collection, CollectionState
from tasks.crowd import marketplace
from tasks.lifecycle import publication
from tasks.tests.making import make_collection, make_posting, stage_of

pytestmark = pytest.mark.django_db
PAGE = "/collections/pilot/finish/"


@pytest.fixture
def pilot(rita: Client, monkeypatch: pytest.MonkeyPatch) -> Collection:
    """Return a published collection; the marketplace answers."""
    monkeypatch.setattr(publication, "call", lambda operation: {})
    return make_collection(slug="pilot")


@pytest.fixture
def busy(pilot: Collection) -> Collection:
    """Return the collection with a HIT that is up, a person at work and open decisions."""
    question = stage_of(pilot, "question")
    make_posting(question)
    make_lease(question, state="live")
    make_attempt(stage_of(pilot, "question_qualification"))
    make_question(question)
    return pilot


def finish(*options: str) -> str:
    """Return what the command prints."""
    printed = StringIO()
    call_command("finish_collection", "pilot", *options, stdout=printed)
    return printed.getvalue()


def state(collection: Collection) -> str:
    """Return the state that is stored."""
    collection.refresh_from_db()
    return collection.state


def test_the_page_says_what_will_happen_before_it_happens(rita: Client, busy: Collection) -> None:
    page = rita.get(PAGE).content.decode()
    assert "Nobody gets new work." in page
    assert "HITs that nobody works on are taken down" in plain(page)
    assert "1 person at work goes on" in page
    assert "1 qualification to inspect." in page
    assert "1 question without enough answers" in page
    assert state(busy) == CollectionState.COLLECTING


def test_finishing_leads_to_what_stays_to_be_done(rita: Client, busy: Collection) -> None:
    page = rita.post(PAGE, {"why": "Enough."}, follow=True).content.decode()
    assert "This collection is finished" in page
    assert "1 person at work, until" in page
    assert state(busy) == CollectionState.FINISHED
    assert busy.revisions.get().why == "Enough."
    overview = rita.get("/collections/pilot/").content.decode()
    assert "one person is at work still" in overview
    assert "owner finished the collection." in overview
    assert "Pause" not in overview


def test_open_decisions_about_pay_are_named(rita: Client, pilot: Collection) -> None:
    assert "about pay" not in rita.get(PAGE).content.decode()
    make_empty_submission(pilot)
    assert "1 decision about pay, on the money page." in rita.get(PAGE).content.decode()


def test_a_finished_collection_costs_no_more_than_is_bound(rita: Client, pilot: Collection) -> None:
    rita.post(PAGE)
    Collection.objects.update(budget_cents=1000, spent_cents=700, reserved_cents=0)
    assert "above the budget" not in rita.get("/collections/pilot/").content.decode()


def test_it_is_reopened_paused_and_then_resumed(rita: Client, pilot: Collection) -> None:
    rita.post(PAGE)
    reply = rita.post("/collections/pilot/publish/", follow=True).content.decode()
    assert "The collection is finished. Reopen it first." in reply
    reply = rita.post("/collections/pilot/reopen/", follow=True).content.decode()
    assert "Press Resume" in reply
    assert "owner reopened the collection." in reply
    assert state(pilot) == CollectionState.PAUSED
    send(rita, "/collections/pilot/", "/collections/pilot/publish/")
    assert state(pilot) == CollectionState.COLLECTING


def test_what_is_not_so_is_refused_in_one_sentence(rita: Client, pilot: Collection) -> None:
    reply = rita.post("/collections/pilot/reopen/", follow=True).content.decode()
    assert "It is not finished" in reply
    rita.post(PAGE)
    assert "It is finished already." in rita.post(PAGE, follow=True).content.decode()
    Collection.objects.update(state=CollectionState.DRAFT)
    assert "It was never published" in rita.get(PAGE).content.decode()
    assert "It was never published" in rita.post(PAGE, follow=True).content.decode()


def test_the_page_asks_no_more_with_more_of_everything(rita: Client, busy: Collection) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as found:
            rita.get(PAGE)
        return len(found)

    before = queries()
    for _ in range(4):
        make_posting(stage_of(busy, "question"))
        make_question(stage_of(busy, "question"))
    assert queries() == before


def test_answers_handed_in_after_the_end_are_decided(pilot: Collection) -> None:
    question = make_question(stage_of(pilot, "question"))
    make_answer(question, stage_of(pilot, "answer"))
    Collection.objects.update(state=CollectionState.FINISHED)
    assert decide(Collection.objects.get(pk=pilot.pk)) == 1
    assert Verdict.objects.filter(question=question).exists()


def test_the_command_finishes_says_what_stays_and_reopens(busy: Collection) -> None:
    assert "Nothing was changed." in finish("--dry-run")
    assert state(busy) == CollectionState.COLLECTING
    printed = finish("--why=Enough.")
    assert printed.startswith("Finished. Nobody gets new work.")
    assert "1 qualification to inspect." in printed
    assert state(busy) == CollectionState.FINISHED
    assert "It would be paused." in finish("--reopen", "--dry-run")
    assert "Reopened, paused. Hand out work: .venv/bin/python manage.py publish pilot" in finish(
        "--reopen"
    )
    assert [row.by for row in busy.revisions.all()] == ["the command line"] * 2


def test_for_scripts_the_command_prints_what_stays(busy: Collection) -> None:
    told: dict[str, Any] = json.loads(finish("--json"))
    assert (told["state"], told["at_work"], told["to_inspect"]) == ("finished", 1, 1)
    assert (told["undecided"], told["pay_decisions"]) == (1, 0)


def test_the_command_says_when_nothing_stays(
    pilot: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(marketplace, "expire_hit", lambda hit_id: None)
    monkeypatch.setattr(marketplace, "is_vacant", lambda hit_id: True)
    make_verdict(make_question(stage_of(pilot, "question")), "dropped")
    pilot.payments.update(state="confirmed")
    assert "Nothing stays to be done." in finish()


def test_the_command_refuses_in_one_line(pilot: Collection) -> None:
    with pytest.raises(CommandError, match="It is not finished"):
        finish("--reopen")
    finish()
    with pytest.raises(CommandError, match="It is finished already"):
        finish()
