"""Sixteen claimants from four processes want the last slot, or the last cent: one wins."""

import time

import pytest

from tasks.tests.making import (
    make_collection,
    make_posting,
    make_session,
    make_worker,
    stage_of,
    write_keys,
)
from tests.processes import together

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "marketplace"])
PROCESSES = 4
EACH = 4


def soon() -> float:
    """Return a moment by which every process has started."""
    return time.time() + 4


def test_one_of_sixteen_gets_the_last_slot(tmp_path, settings):
    write_keys(tmp_path, settings)
    stage = stage_of(make_collection(seeds=2), "question")
    sessions = [
        make_session(make_worker(f"A{number}"), make_posting(stage)).pk
        for number in range(PROCESSES * EACH)
    ]
    groups = [sessions[start::PROCESSES] for start in range(PROCESSES)]
    start = soon()
    won = together("tests.racing", "claim_slots", [[keys, stage.pk, start] for keys in groups])
    assert sum(won) == 1
    unit = stage.units.get()
    assert (unit.taken, unit.leases.count()) == (1, 1)


def test_one_of_sixteen_gets_the_last_cent(tmp_path, settings):
    write_keys(tmp_path, settings)
    collection = make_collection()
    collection.budget_cents = 500
    collection.save()
    start = soon()
    won = together("tests.racing", "reserve_money", [[collection.pk, 400, EACH, start]] * PROCESSES)
    assert sum(won) == 1
    collection.refresh_from_db()
    assert collection.reserved_cents == 400
