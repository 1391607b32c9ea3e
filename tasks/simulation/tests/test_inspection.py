"""The simulation inspects what simulated workers made, and leaves people's work to people."""

from types import SimpleNamespace
from typing import Any

import pytest

from collector.models import Collection
from tasks import leases, submissions
from tasks.models import Grant, GrantState
from tasks.simulation.inspection import INSPECTOR, inspect_waiting
from tasks.tests.making import (
    NOW,
    make_collection,
    make_posting,
    make_session,
    make_worker,
    questions_for,
    stage_of,
)

pytestmark = pytest.mark.django_db
GRANTING: Any = SimpleNamespace(inspect=lambda kind, data, items: (True, "Well done."))
DECLINING: Any = SimpleNamespace(inspect=lambda kind, data, items: (False, "Not yet."))


def attempt(collection: Collection, person: str, *, synthetic: bool) -> Grant:
    """Return what waits for inspection after `person` has tried to qualify."""
    stage = stage_of(collection, "question_qualification")
    worker = make_worker(person)
    worker.synthetic = synthetic
    worker.save()
    lease = leases.claim(make_session(worker, make_posting(stage)), stage, NOW)
    assert lease is not None
    submissions.hand_in(lease, questions_for(lease, number=1), NOW, synthetic=synthetic)
    return Grant.objects.get(worker=worker)


def test_it_decides_by_the_protocols_rule_and_says_who_decided() -> None:
    collection = make_collection()
    grant = attempt(collection, "AMALLORY", synthetic=True)
    assert inspect_waiting(collection, DECLINING, NOW) == [False]
    grant.refresh_from_db()
    assert (grant.state, grant.note) == (GrantState.DECLINED, "Not yet.")
    assert grant.decided_by == INSPECTOR


def test_it_decides_nothing_twice() -> None:
    collection = make_collection()
    attempt(collection, "AGRACE", synthetic=True)
    assert inspect_waiting(collection, GRANTING, NOW) == [True]
    assert inspect_waiting(collection, DECLINING, NOW) == []


def test_it_leaves_a_persons_submission_alone() -> None:
    collection = make_collection()
    grant = attempt(collection, "AADA", synthetic=False)
    assert inspect_waiting(collection, DECLINING, NOW) == []
    grant.refresh_from_db()
    assert grant.state == GrantState.SUBMITTED
