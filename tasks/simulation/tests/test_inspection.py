"""The simulation inspects what simulated workers made, and leaves people's work to people."""

from collections.abc import Callable
from typing import Any

import pytest

from collector.models import Collection
from tasks.models import Grant, GrantState
from tasks.simulation.recruiting import INSPECTOR, inspect_waiting
from tasks.tests.making import (
    NOW,
    make_collection,
    make_posting,
    make_session,
    make_worker,
    questions_for,
    stage_of,
)
from tasks.work import leases, submissions

pytestmark = pytest.mark.django_db


def grant(kind: str, data: Any, items: Any, open_article: Callable[..., Any]) -> tuple[bool, str]:
    """Find everything good."""
    return True, "Well done."


def decline(kind: str, data: Any, items: Any, open_article: Callable[..., Any]) -> tuple[bool, str]:
    """Find nothing good."""
    return False, "Not yet."


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
    given = attempt(collection, "AMALLORY", synthetic=True)
    assert inspect_waiting(collection, decline, NOW) == [False]
    given.refresh_from_db()
    assert (given.state, given.note) == (GrantState.DECLINED, "Not yet.")
    assert given.decided_by == INSPECTOR


def test_it_decides_nothing_twice() -> None:
    collection = make_collection()
    attempt(collection, "AGRACE", synthetic=True)
    assert inspect_waiting(collection, grant, NOW) == [True]
    assert inspect_waiting(collection, decline, NOW) == []


def test_it_leaves_a_persons_submission_alone() -> None:
    collection = make_collection()
    given = attempt(collection, "AADA", synthetic=False)
    assert inspect_waiting(collection, decline, NOW) == []
    given.refresh_from_db()
    assert given.state == GrantState.SUBMITTED
