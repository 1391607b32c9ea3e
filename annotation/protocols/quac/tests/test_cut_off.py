"""A validator who is cut off keeps what was given, is paid for it, and goes on after it."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from annotation.protocols.quac.tests import test_whole_way as whole_way
from collector.models import Collection
from tasks.models import Lease, LeaseState, LockedAnswer, Worker
from tasks.paying.compensation import worth_cents
from tasks.people.erasure import forget
from tasks.tests.making import make_worker, stage_of
from tasks.work import leases
from tests.page_workers import Person, look

# As fixtures.
collection, talked = whole_way.collection, whole_way.talked
NONE = {"type": "none", "spans": [], "affirmation": None}

pytestmark = pytest.mark.django_db


@pytest.fixture
def cut_off(talked: Collection) -> tuple[Person, dict[str, Any]]:
    """Return somebody who gave two of four answers and then ran out of time, and the page."""
    look(talked)
    make_worker("AEDITH", qualified=(stage_of(talked, "teacher_qualification"),))
    edith = Person("AEDITH", talked)
    state, _ = edith.enter("validation")
    for item in ("0", "1"):
        assert edith.post(state, "answer", {"item": item, "answer": NONE}).status_code == 200
    leases.expire_overdue(timezone.now() + timedelta(days=1))
    return edith, state


def test_what_was_given_is_paid_in_proportion(cut_off: tuple[Person, dict[str, Any]]) -> None:
    lease = Lease.objects.get(worker__identity__person="AEDITH", draft__isnull=False)
    assert lease.state == LeaseState.EXPIRED
    assert worth_cents(lease) == 53, "half of 105, rounded up"


def test_who_comes_back_goes_on_after_it(cut_off: tuple[Person, dict[str, Any]]) -> None:
    edith, before = cut_off
    state, _ = edith.enter("validation")
    assert [step["own"] is not None for step in state["ordered_answers"]] == [True, True, False]
    assert [item["id"] for item in state["items"]] == [item["id"] for item in before["items"]]


def test_who_is_forgotten_leaves_no_half_done_answer(
    cut_off: tuple[Person, dict[str, Any]],
) -> None:
    Lease.objects.update(compensated=True)
    forget(Worker.objects.get(identity__person="AEDITH"), timezone.now(), withdraw=True)
    assert not LockedAnswer.objects.exists()
