"""One round at a time, and no round blocks the next one for long."""

from datetime import timedelta
from time import monotonic, sleep

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from collector.models import Collection
from tasks.lifecycle import maintenance
from tasks.models import Posting, PostingState
from tasks.tests.making import NOW

pytestmark = pytest.mark.django_db
CONFIRM = "confirm_submissions"
LATER = NOW + timedelta(seconds=5)


def test_a_round_leaves_a_collection_alone_that_another_one_tends(collection, fake_marketplace):
    assert maintenance.Claim(collection, NOW).take()
    assert maintenance.maintain_alone(collection, NOW + timedelta(seconds=3)) == {}


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
    monkeypatch.setattr(maintenance.estimates, "keep_maximum", wait_for_signs)
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
    assert len(statements) <= 41
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
