"""Tests of opening, finishing and reopening, and of HITs after a change of pay."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from collector.models import Collection, CollectionState, Stage, StageState
from collector.protocols.creation import revise
from common.actions import ActionError
from tasks import hits
from tasks.costs import estimate, totals, totals_from_now
from tasks.crowd import marketplace
from tasks.ledger import payments
from tasks.lifecycle import publication
from tasks.lifecycle.maintenance import maintain
from tasks.lifecycle.publication import (
    CostChangedError,
    finish,
    publish,
    reopen,
    unfinished_work_of,
)
from tasks.models import EmptySubmission, LeaseState, Posting
from tasks.paying import compensation, empty_submissions
from tasks.tests.deciding import listed
from tasks.tests.making import (
    consent,
    entry_query,
    make_collection,
    make_posting,
    make_session,
    make_worker,
    questions_for,
    stage_of,
    write_keys,
)
from tasks.work import leases

pytestmark = pytest.mark.django_db


@pytest.fixture
def pilot(monkeypatch: pytest.MonkeyPatch) -> Collection:
    """Return a published collection; the marketplace answers."""
    monkeypatch.setattr(publication, "call", lambda operation: {})
    return make_collection()


@pytest.fixture
def taken_down(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the HITs that the marketplace was told to expire; nobody holds one."""
    told: list[str] = []
    monkeypatch.setattr(marketplace, "expire_hit", told.append)
    monkeypatch.setattr(marketplace, "is_vacant", lambda hit_id: True)
    monkeypatch.setattr(marketplace, "submitted_assignments", lambda type_id: iter(()))
    return told


def raise_pay(collection: Collection, cents: int) -> None:
    """Change what a question HIT pays."""
    wanted = {"question.reward_cents": cents}
    revise(collection, wanted, why="Too little.", by="rita", now=timezone.now())


def set_states(collection: Collection, state: str, **stages: str) -> None:
    """Put the collection and its stages into states."""
    Collection.objects.filter(pk=collection.pk).update(state=state)
    collection.refresh_from_db()
    for name, each in stages.items():
        collection.stages.filter(name=name).update(state=each)


def state_of(collection: Collection, name: str) -> str:
    """Return the state of a stage."""
    return collection.stages.get(name=name).state


def test_publishing_opens_what_was_never_open_and_leaves_closed_stages_closed(
    pilot: Collection,
) -> None:
    set_states(pilot, "collecting", answer="closed", human_performance="draft")
    assert [stage.name for stage in publish(pilot)] == ["human_performance"]
    assert state_of(pilot, "answer") == StageState.CLOSED


def test_pay_that_is_raised_while_it_is_published_is_looked_at_first(
    pilot: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_states(pilot, "draft", question="draft")
    say = publication.costs.say_maximum

    def raised_meanwhile(*given: Any) -> int:
        said = say(*given)
        raise_pay(pilot, 900)
        return said

    with monkeypatch.context() as patch:
        patch.setattr(publication.costs, "say_maximum", raised_meanwhile)
        with pytest.raises(ActionError, match="changed meanwhile"):
            publish(pilot)
    assert state_of(pilot, "question") == StageState.DRAFT
    pilot.refresh_from_db()
    assert [stage.name for stage in publish(pilot)] == ["question"]


def test_a_draft_does_not_keep_the_maximum_of_a_refused_publication(pilot: Collection) -> None:
    set_states(pilot, "draft")
    pilot.stages.update(state=StageState.DRAFT)
    pilot.seeds.exclude(fold="").update(fold="dev")
    with pytest.raises(CostChangedError):
        publish(pilot, seen_cents=1)
    pilot.refresh_from_db()
    refused = pilot.maximum_cents or 0
    # As many other seeds, of a fold in which fewer answers are wanted.
    pilot.seeds.exclude(fold="").update(fold="train")
    shown = totals(pilot, estimate(pilot)).maximum
    publish(pilot, seen_cents=shown)
    pilot.refresh_from_db()
    assert pilot.maximum_cents == shown
    assert shown < refused


def test_pay_that_was_raised_since_a_collection_was_read_is_in_its_maximum(
    pilot: Collection,
) -> None:
    set_states(pilot, "draft", question="draft")
    read_before = Collection.objects.get(pk=pilot.pk)
    raise_pay(pilot, 900)
    publish(read_before)
    pilot.refresh_from_db()
    assert pilot.maximum_cents == totals_from_now(pilot).maximum


def test_a_named_stage_is_reopened_alone(pilot: Collection) -> None:
    set_states(pilot, "collecting", answer="closed", question="closed")
    assert [stage.name for stage in publish(pilot, "answer")] == ["answer"]
    assert state_of(pilot, "question") == StageState.CLOSED


def test_a_paused_collection_goes_on_as_it_was(pilot: Collection) -> None:
    set_states(pilot, "paused", answer="closed", human_performance="draft")
    assert publish(pilot) == []
    pilot.refresh_from_db()
    assert pilot.state == CollectionState.COLLECTING
    assert state_of(pilot, "human_performance") == StageState.DRAFT


def test_with_every_stage_closed_it_asks_for_one_by_name(pilot: Collection) -> None:
    pilot.stages.update(state=StageState.CLOSED)
    set_states(pilot, "paused")
    with pytest.raises(ActionError, match=r"Every stage is closed\. Name the one to open"):
        publish(pilot)
    pilot.refresh_from_db()
    assert pilot.state == CollectionState.PAUSED


def test_a_finished_collection_is_not_published_by_mistake(pilot: Collection) -> None:
    finish(pilot, "Enough.", "rita", timezone.now())
    pilot.refresh_from_db()
    for name in ("", "answer"):
        with pytest.raises(ActionError, match=r"Reopen it first: .*manage\.py finish_collection"):
            publish(pilot, name)


def test_finishing_and_reopening_are_recorded_and_keep_the_stages(pilot: Collection) -> None:
    pilot.stages.filter(name="answer").update(state=StageState.CLOSED)
    finish(pilot, " Enough. ", "rita", timezone.now())
    reopen(pilot, "", "grace", timezone.now())
    pilot.refresh_from_db()
    assert pilot.state == CollectionState.PAUSED
    rows = pilot.revisions.values_list("key", "old", "new", "why", "by")
    assert list(rows) == [
        ("state", "collecting", "finished", "Enough.", "rita"),
        ("state", "finished", "paused", "", "grace"),
    ]
    publish(pilot)
    assert state_of(pilot, "answer") == StageState.CLOSED
    assert state_of(pilot, "question") == StageState.OPEN


def test_what_is_not_so_cannot_be_ended_or_taken_back(pilot: Collection) -> None:
    now = timezone.now()
    with pytest.raises(ActionError, match="It is not finished"):
        reopen(pilot, "", "rita", now)
    finish(pilot, "", "rita", now)
    with pytest.raises(ActionError, match="finished already"):
        finish(pilot, "", "rita", now)
    set_states(pilot, "draft")
    with pytest.raises(ActionError, match="never published"):
        finish(pilot, "", "rita", now)


def test_finishing_takes_idle_hits_down_and_lets_who_is_at_work_go_on(
    pilot: Collection, taken_down: list[str]
) -> None:
    stage, now = stage_of(pilot, "question"), timezone.now()
    idle = make_posting(stage)
    ada = make_worker(qualified=(stage_of(pilot, "question_qualification"),))
    lease = leases.claim(make_session(ada, make_posting(stage)), stage, now)
    assert lease is not None
    Posting.objects.update(expires_at=now + timedelta(days=14))
    finish(pilot, "", "rita", now)
    pilot.refresh_from_db()
    work = unfinished_work_of(pilot)
    assert (work.hits, work.held_cents, work.at_work) == (1, 400, 1)
    assert work.until == lease.expires_at
    maintain(pilot, now)
    assert taken_down == [idle.external_id]
    pilot.refresh_from_db()
    assert pilot.reserved_cents == 400
    lease.refresh_from_db()
    assert lease.state == LeaseState.LIVE
    assert unfinished_work_of(pilot).hits == 0


def test_hits_that_are_only_planned_are_never_put_up_after_the_end(
    pilot: Collection, taken_down: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    stage, now = stage_of(pilot, "question"), timezone.now()
    planned, noted_late = make_posting(stage), make_posting(stage)
    Posting.objects.update(state="publishing", external_id="", expires_at=now + timedelta(days=14))
    made = {str(noted_late.token): marketplace.Hit("H1", "T1")}
    monkeypatch.setattr(marketplace, "find_hits", lambda tokens: made)
    finish(pilot, "", "rita", now)
    pilot.refresh_from_db()
    done = maintain(pilot, now)
    assert (done["plans let go"], done["HITs closed"], done["HITs published"]) == (1, 1, 0)
    assert taken_down == ["H1"]
    assert set(Posting.objects.values_list("pk", "state", "external_id")) == {
        (planned.pk, "expired", ""),
        (noted_late.pk, "expired", "H1"),
    }
    pilot.refresh_from_db()
    assert pilot.reserved_cents == 0


def test_started_work_that_runs_out_of_time_after_the_end_is_paid_by_what_was_saved(
    pilot: Collection, taken_down: list[str]
) -> None:
    stage, now = stage_of(pilot, "question"), timezone.now()
    ada = make_worker(qualified=(stage_of(pilot, "question_qualification"),))
    lease = leases.claim(make_session(ada, make_posting(stage)), stage, now)
    assert lease is not None
    draft = {"data": {"questions": questions_for(lease)["questions"][:1]}}
    leases.save_draft(lease, draft, 0, now)
    lease.session.signed_until = now + timedelta(hours=3)
    lease.session.save()
    finish(pilot, "", "rita", now)
    pilot.refresh_from_db()
    maintain(pilot, now + timedelta(hours=4))
    assert [row.amount_cents for row in ada.payments.all()] == [200]


def test_hits_posted_after_a_change_pay_the_new_and_hold_it(pilot: Collection) -> None:
    stage = stage_of(pilot, "question")
    old = make_posting(stage)
    raise_pay(pilot, 500)
    # Whoever holds an older row of the collection plans by the newest values all the same.
    hits.plan_postings(stage, timezone.now())
    new = stage.postings.exclude(pk=old.pk).get()
    assert (old.reward_cents, new.reward_cents, new.reserved_cents) == (400, 500, 500)
    pilot.refresh_from_db()
    assert pilot.reserved_cents == 900


def test_the_maximum_counts_hits_that_are_up_with_their_own_pay(pilot: Collection) -> None:
    stage = stage_of(pilot, "question")
    assert most(pilot, stage) == 2 * 400
    posting = make_posting(stage)
    raise_pay(pilot, 500)
    pilot.refresh_from_db()
    assert most(pilot, stage) == 400 + 500
    hits.expire(posting)
    assert most(pilot, stage) == 2 * 500


def test_the_maximum_counts_what_came_without_work_on_top_paid_or_rejected(
    pilot: Collection,
) -> None:
    stage = stage_of(pilot, "question")
    posting = make_posting(stage)
    empty_submissions.record(posting, listed(posting), timezone.now())
    assert most(pilot, stage) == 3 * 400
    work = EmptySubmission.objects.get()
    payments.owe_empty_submission(work, "rita", timezone.now())
    assert most(pilot, stage) == 3 * 400
    payments.withhold(work, timezone.now())
    assert most(pilot, stage) == 3 * 400


def most(collection: Collection, stage: Stage) -> int:
    """Return the maximum of a stage."""
    return next(row.maximum_cents for row in estimate(collection) if row.stage == stage)


def test_a_hit_that_is_up_shows_and_pays_pro_rata_what_it_was_posted_with(
    pilot: Collection, client: Client, settings: Any, tmp_path: Any
) -> None:
    write_keys(tmp_path, settings)
    stage = stage_of(pilot, "question")
    ada = make_worker(qualified=(stage_of(pilot, "question_qualification"),))
    consent(ada, pilot)
    old = make_posting(stage)
    raise_pay(pilot, 500)
    query = entry_query(old, "AADA", expires=timezone.now() + timedelta(hours=3))
    page = client.get(f"/hit/?{query}", HTTP_HOST="localhost").content.decode()
    assert "$4.00" in page
    assert "$5.00" not in page
    lease = ada.leases.get()
    lease.draft = {"data": {"questions": questions_for(lease)["questions"][:1]}}
    assert compensation.worth_cents(lease) == 200


def test_a_preview_and_the_consent_show_the_pay_of_their_hit(
    pilot: Collection, client: Client, settings: Any, tmp_path: Any
) -> None:
    write_keys(tmp_path, settings)
    old = make_posting(stage_of(pilot, "question"))
    raise_pay(pilot, 500)
    soon = timezone.now() + timedelta(hours=3)
    ids = {"assignment": "ASSIGNMENT_ID_NOT_AVAILABLE"}
    for query in (entry_query(old, "", expires=soon, **ids), entry_query(old, "A", expires=soon)):
        page = client.get(f"/hit/?{query}", HTTP_HOST="localhost").content.decode()
        assert "$4.00" in page
        assert "$5.00" not in page
