"""The jobs look at a collection when something happened to it, or may have."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from collector.models import Collection, CollectionState
from tasks.ledger.performance_bonuses import award_bonuses
from tasks.ledger.tests.making import begin, hand_in, make_pairs
from tasks.lifecycle import maintenance, publication
from tasks.models import (
    Lease,
    LeaseState,
    Payment,
    PaymentState,
    Posting,
    PostingState,
    ReceiptState,
    Session,
)
from tasks.tests.making import (
    make_collection,
    make_posting,
    make_session,
    make_worker,
    questions_for,
    stage_of,
    write_keys,
)
from tasks.tests.visiting import at_work, post
from tasks.work import due_work, leases, submissions

pytestmark = pytest.mark.django_db


@pytest.fixture
def collection(collection: Collection) -> Collection:
    """Return a published collection that was looked at once, and had nothing to do."""
    due_work.look_after(collection, timezone.now(), nothing)
    assert due_work.due(timezone.now()) == []
    return collection


def nothing() -> bool:
    """Stand for a round that found nothing to do."""
    return False


def pause(collection: Collection) -> timedelta:
    """Return how long the collection is left alone after a round without anything to do."""
    now = timezone.now()
    due_work.look_after(collection, now, nothing)
    collection.refresh_from_db()
    assert collection.look_at
    return collection.look_at - now


def test_what_was_just_published_is_looked_at_and_a_draft_never_is():
    made = make_collection()
    assert due_work.due(timezone.now()) == [made.pk]
    Collection.objects.update(state=CollectionState.DRAFT)
    due_work.wake_all()
    assert due_work.due(timezone.now()) == []


def test_whatever_wakes_a_collection_has_it_looked_at_alone(collection):
    other = make_collection(collection.corpus, slug="other")
    due_work.look_after(other, timezone.now(), nothing)
    due_work.wake(collection.pk)
    assert due_work.due(timezone.now()) == [collection.pk]


def test_what_happens_during_a_round_is_not_forgotten(collection):
    due_work.look_after(collection, timezone.now(), lambda: due_work.wake(collection.pk) is True)
    assert due_work.due(timezone.now()) == [collection.pk]


def test_a_round_that_did_something_is_followed_by_another(collection):
    due_work.look_after(collection, timezone.now(), lambda: True)
    assert due_work.due(timezone.now()) == [collection.pk]


def test_a_round_that_died_is_made_up_for(collection):
    with pytest.raises(ZeroDivisionError):
        due_work.look_after(collection, timezone.now(), lambda: bool(1 // 0))
    assert due_work.due(timezone.now()) == []
    assert due_work.due(timezone.now() + timedelta(seconds=3)) == [collection.pk]


def test_a_clock_that_is_set_back_puts_nothing_off(collection):
    due_work.look_after(collection, timezone.now() + timedelta(hours=1), nothing)
    assert due_work.due(timezone.now()) == [collection.pk]


def test_nobody_looks_at_what_somebody_is_at(collection):
    due_work.wake(collection.pk)
    claim = maintenance.Claim(collection, timezone.now())
    assert claim.take()
    assert due_work.due(timezone.now()) == []
    claim.give_up()
    assert due_work.due(timezone.now()) == [collection.pk]


def test_a_step_that_fails_is_tried_again_at_the_next_look(collection, monkeypatch):
    monkeypatch.setattr(maintenance.leases, "expire_overdue", lambda now: 1 // 0)
    assert maintenance.maintain(collection, timezone.now())[maintenance.FAILED] >= 1


def test_a_collection_is_left_alone_as_long_as_what_is_open_can_wait(collection):
    assert pause(collection) == due_work.WHILE_COLLECTING
    stage, now = stage_of(collection, "question"), timezone.now()
    lease = leases.claim(make_session(make_worker(), make_posting(stage)), stage, now)
    assert pause(collection) == due_work.WHILE_AT_WORK
    work = submissions.hand_in(lease, questions_for(lease), now, synthetic=False)
    assert pause(collection) == due_work.SHORTEST
    type(work).objects.update(received_at=timezone.now() - timedelta(seconds=40))
    assert due_work.SHORTEST < pause(collection) < due_work.WHILE_HANDED_IN
    type(work).objects.update(received_at=timezone.now() - timedelta(days=1))
    assert pause(collection) == due_work.WHILE_HANDED_IN
    type(work).objects.update(state=ReceiptState.CONFIRMED)
    # Whoever came may hand in at the marketplace alone.
    Session.objects.update(started_at=timezone.now())
    assert pause(collection) == due_work.SHORTEST
    Session.objects.update(started_at=timezone.now() - timedelta(days=1))
    assert pause(collection) == due_work.WHILE_COLLECTING
    Collection.objects.update(state=CollectionState.FINISHED)
    collection.refresh_from_db()
    assert pause(collection) == due_work.WHILE_COLLECTING
    type(work).objects.update(state=ReceiptState.APPROVED)
    # Whoever is owed something, or holds a HIT, is not left waiting for hours.
    assert Payment.objects.filter(state=PaymentState.DUE).exists()
    Posting.objects.update(state=PostingState.SETTLED)
    assert pause(collection) == due_work.WHILE_COLLECTING
    Payment.objects.update(state=PaymentState.CONFIRMED)
    Posting.objects.update(state=PostingState.LIVE)
    assert pause(collection) == due_work.WHILE_COLLECTING
    Posting.objects.update(state=PostingState.SETTLED)
    assert pause(collection) == due_work.WHILE_AT_REST


def test_what_was_saved_is_paid_within_minutes_where_the_collection_is_finished_meanwhile(
    client, collection, soon
):
    _, state = at_work(client, collection, soon)
    lease, now = Lease.objects.get(), timezone.now()
    post(client, state, "draft", {"version": 0, "draft": {"data": questions_for(lease)}})
    publication.finish(collection, "Enough.", "rita", now)
    leases.end(lease, LeaseState.EXPIRED, now)
    Posting.objects.update(state=PostingState.EXPIRED, reserved_cents=0)
    collection.refresh_from_db()
    assert pause(collection) == due_work.WHILE_COLLECTING
    later = lease.session.signed_until + due_work.WHILE_COLLECTING
    assert maintenance.pay_unfinished(collection, later) == 1


def test_a_bonus_that_waits_to_be_counted_keeps_a_finished_collection_looked_at(tmp_path, settings):
    write_keys(tmp_path, settings)
    pairs = make_pairs(question__bonuses__wait_hours=24)
    hand_in(begin(pairs, make_worker()))
    Collection.objects.update(state=CollectionState.FINISHED)
    Payment.objects.update(state=PaymentState.CONFIRMED)
    Posting.objects.update(state=PostingState.SETTLED)
    pairs.refresh_from_db()
    assert pause(pairs) == due_work.WHILE_COLLECTING
    award_bonuses(stage_of(pairs, "question"), timezone.now() + timedelta(hours=24))
    assert pause(pairs) == due_work.WHILE_AT_REST


def test_hits_that_were_refused_are_asked_for_soon_and_ever_more_seldom(collection):
    planned = Posting.objects.filter(pk=make_posting(stage_of(collection, "question")).pk)
    planned.update(state=PostingState.PUBLISHING, created_at=timezone.now())
    assert pause(collection) == due_work.SHORTEST
    planned.update(created_at=timezone.now() - timedelta(seconds=40))
    assert due_work.SHORTEST < pause(collection) < due_work.WHILE_COLLECTING
    planned.update(created_at=timezone.now() - timedelta(days=1))
    assert pause(collection) == due_work.WHILE_COLLECTING


def test_asking_what_is_due_costs_one_query_however_many_are_finished(collection):
    for number in range(5):
        make_collection(collection.corpus, slug=f"old-{number}")
    Collection.objects.exclude(pk=collection.pk).update(
        state=CollectionState.FINISHED, look_at=timezone.now() + due_work.WHILE_AT_REST
    )
    with CaptureQueriesContext(connection) as asked:
        assert due_work.due(timezone.now()) == []
    assert len(asked) == 1


def test_work_that_is_taken_or_handed_in_wakes_its_collection(client, collection):
    soon = timezone.now() + timedelta(hours=2)
    _, state = at_work(client, collection, soon)
    assert due_work.due(timezone.now()) == [collection.pk]
    due_work.look_after(collection, timezone.now(), nothing)
    assert post(client, state, "draft", {"version": 0, "draft": {}}).status_code == 200
    assert due_work.due(timezone.now()) == [], "nothing is to do for what is being written"
    data = questions_for(Lease.objects.get())
    assert post(client, state, "submit", {"data": data}).status_code == 200
    assert due_work.due(timezone.now()) == [collection.pk]
