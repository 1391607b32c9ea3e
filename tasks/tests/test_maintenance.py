"""One round at a time, and no round blocks the next one for long."""

from datetime import timedelta
from time import monotonic, sleep

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from collector.models import Collection
from tasks.crowd import marketplace
from tasks.lifecycle import maintenance
from tasks.models import Payment, PaymentState, Posting, PostingState, ReceiptState, Submission
from tasks.paying import reconcile
from tasks.tests.deciding import listed, make_confirmed
from tasks.tests.making import NOW
from tasks.work import due_work

pytestmark = pytest.mark.django_db
CONFIRM = "confirm_submissions"
LATER = NOW + timedelta(seconds=3)


def test_a_round_leaves_a_collection_alone_that_another_one_tends(collection, fake_marketplace):
    assert maintenance.Claim(collection, NOW).take()
    assert maintenance.maintain_alone(collection, NOW + timedelta(seconds=2)) == {}


def test_a_round_that_died_blocks_the_next_one_for_seconds_at_most(collection, fake_marketplace):
    assert maintenance.Claim(collection, NOW).take()
    assert maintenance.maintain_alone(collection, LATER)
    assert Collection.objects.get().maintained_until is None


@pytest.mark.django_db(transaction=True)
def test_a_round_keeps_its_claim_however_long_one_step_is(
    collection, fake_marketplace, monkeypatch
):
    seen = []

    def wait_for_signs(*_):
        began = Collection.objects.get().maintained_until
        until = monotonic() + 30
        while Collection.objects.get().maintained_until == began and monotonic() < until:
            sleep(0.01)
        seen.append(Collection.objects.get().maintained_until - began)
        # Whoever comes meanwhile has nothing to do.
        seen.append(maintenance.maintain_alone(collection, NOW + maintenance.CLAIM))

    monkeypatch.setattr(maintenance, "RENEW_SECONDS", 0.05)
    monkeypatch.setattr(maintenance.costs, "keep_maximum", wait_for_signs)
    assert maintenance.maintain_alone(collection, NOW)
    assert seen[0] > timedelta(0)
    assert seen[1] == {}
    assert Collection.objects.get().maintained_until is None


def test_who_lost_a_claim_does_not_take_it_back(collection):
    slow = maintenance.Claim(collection, NOW)
    assert slow.take()
    assert maintenance.Claim(collection, LATER).take()
    until = Collection.objects.get().maintained_until
    slow.renew()
    slow.give_up()
    assert Collection.objects.get().maintained_until == until


def test_a_claim_of_a_clock_that_was_ahead_is_free(collection):
    Collection.objects.update(maintained_until=NOW + timedelta(days=365), look_at=NOW)
    assert due_work.due(NOW) == [collection.pk]
    assert maintenance.maintain_alone(collection, NOW)


def test_a_round_with_nothing_to_do_locks_nothing_and_is_short(
    collection, fake_marketplace, caplog
):
    maintenance.maintain_alone(collection, NOW)
    Posting.objects.update(state=PostingState.LIVE)
    caplog.clear()
    with CaptureQueriesContext(connection) as captured:
        assert not any(maintenance.maintain_alone(collection, NOW).values())
    statements = [query["sql"] for query in captured.captured_queries]
    assert [sql for sql in statements if sql.startswith(("BEGIN", "SAVEPOINT"))] == []
    assert len(statements) <= 46
    assert caplog.messages == []


def test_hits_go_up_before_those_of_before_are_asked_about(
    collection, fake_marketplace, monkeypatch
):
    order = []
    for step, name in ((maintenance.hits, "publish_pending"), (maintenance.reconcile, CONFIRM)):
        monkeypatch.setattr(step, name, lambda *_, name=name: order.append(name) or 0)
    maintenance.maintain_alone(collection, NOW)
    assert order[0] == "publish_pending"
    assert order[-1] == CONFIRM


def test_where_many_hits_are_to_go_up_most_of_them_wait_for_what_is_to_be_paid(
    collection, fake_marketplace, monkeypatch
):
    order = []

    def publish(stage, now, most=None):
        order.append(most)
        return most or 0

    monkeypatch.setattr(maintenance.hits, "with_plans", lambda stages: stages[:1])
    monkeypatch.setattr(maintenance.hits, "publish_pending", publish)
    monkeypatch.setattr(maintenance.reconcile, CONFIRM, lambda *_: order.append(CONFIRM) or 0)
    maintenance.maintain_alone(collection, NOW)
    assert order == [maintenance.FIRST_HITS, CONFIRM, None]


def test_where_much_was_handed_in_the_first_are_paid_before_all_are_asked_about(
    collection, fake_marketplace, monkeypatch
):
    monkeypatch.setattr(reconcile, "FEW", 1)
    works = [make_confirmed(collection, person) for person in ("AADA", "AGRACE")]
    Submission.objects.update(state=ReceiptState.HELD)
    paid = []

    def assignments(_):
        for work in works:
            paid.append(Payment.objects.filter(state=PaymentState.CONFIRMED).count())
            yield listed(work.session.posting, work.session)

    monkeypatch.setattr(marketplace, "submitted_assignments", assignments)
    collection.refresh_from_db()
    done = maintenance.maintain_alone(collection, NOW)
    assert paid == [0, 1]
    assert done["submissions approved"] == done["submissions confirmed"] == len(works)
