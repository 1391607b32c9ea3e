"""One round at a time, and no round blocks the next one for long."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from collector.models import Collection
from tasks.lifecycle import maintenance
from tasks.models import Posting, PostingState
from tasks.tests.making import NOW

pytestmark = pytest.mark.django_db
LATER = NOW + timedelta(minutes=1, seconds=1)


def test_a_round_leaves_a_collection_alone_that_another_one_tends(collection, desk):
    assert maintenance.Claim(collection, NOW).take()
    assert maintenance.maintain_alone(collection, NOW + timedelta(seconds=59)) == {}


def test_a_round_that_died_blocks_the_next_one_for_a_minute_at_most(collection, desk):
    assert maintenance.Claim(collection, NOW).take()
    assert maintenance.maintain_alone(collection, LATER)
    assert Collection.objects.get().tended_until is None


def test_a_long_round_renews_its_claim_before_every_step(collection, monkeypatch):
    passed = iter(range(0, 2000, 40))
    monkeypatch.setattr(maintenance, "monotonic", lambda: next(passed))
    claim = maintenance.Claim(collection, NOW)
    assert claim.take()
    claim.renew()
    assert Collection.objects.get().tended_until == NOW + timedelta(seconds=80) + maintenance.CLAIM


def test_who_lost_a_claim_does_not_take_it_back(collection):
    slow = maintenance.Claim(collection, NOW)
    assert slow.take()
    assert maintenance.Claim(collection, LATER).take()
    until = Collection.objects.get().tended_until
    slow.renew()
    slow.give_up()
    assert Collection.objects.get().tended_until == until


def test_a_round_with_nothing_to_do_locks_nothing_and_is_short(collection, desk, caplog):
    maintenance.maintain_alone(collection, NOW)
    Posting.objects.update(state=PostingState.LIVE)
    caplog.clear()
    with CaptureQueriesContext(connection) as captured:
        assert not any(maintenance.maintain_alone(collection, NOW).values())
    statements = [query["sql"] for query in captured.captured_queries]
    assert [sql for sql in statements if sql.startswith(("BEGIN", "SAVEPOINT"))] == []
    assert len(statements) <= 41
    assert caplog.messages == []
