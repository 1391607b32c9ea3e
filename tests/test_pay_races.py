"""Money in several processes at once: no two lock each other out, and one decision wins."""

from datetime import timedelta

import pytest
from django.db.models import Sum
from django.utils import timezone

from tasks.models import LeaseState, Payment, Posting, Rejection, Submission
from tasks.paying import rejections
from tasks.tests.deciding import make_confirmed
from tasks.tests.making import (
    make_collection,
    make_posting,
    make_session,
    make_worker,
    stage_of,
    write_keys,
)
from tasks.work import leases
from tests.processes import soon, together

pytestmark = [
    pytest.mark.once,
    pytest.mark.django_db(transaction=True, databases=["default", "marketplace"]),
]
RACING = "tests.racing_pay"
HITS = 6


@pytest.fixture
def keys(tmp_path, settings):
    write_keys(tmp_path, settings)


def confirmed() -> list[Submission]:
    """Return work that has just come and waits to be paid."""
    collection = make_collection(
        pay__approve_after_hours=48.0,
        question__redundancy={"train": HITS, "dev": HITS, "test": HITS},
    )
    works = [make_confirmed(collection, f"A{number}") for number in range(HITS)]
    # Paid by itself from now on, and not yet too late to reject.
    now = timezone.now()
    Submission.objects.update(received_at=now, confirmed_at=now - timedelta(hours=49))
    return works


def test_planning_places_and_compensating_never_lock_each_other_out(keys):
    many = {"train": 80, "dev": 80, "test": 80}
    collection = make_collection(
        question__redundancy=many,
        question__places_at_once=300,
        answer_qualification__redundancy=many,
    )
    stage = stage_of(collection, "question")
    begun = []
    for number in range(12):
        lease = leases.claim(
            make_session(make_worker(f"A{number}"), make_posting(stage)), stage, timezone.now()
        )
        leases.end(lease, LeaseState.EXPIRED, timezone.now())
        begun.append(lease.pk)
    groups = [[], begun[0::3], [], begun[1::3], begun[2::3], begun[0::3]]
    start = soon()
    done = together(RACING, "plan_or_compensate", [[stage.pk, keys, start] for keys in groups])
    assert sum(done[1::2]) + done[4] == 16, "the four that two processes pay are paid once"
    assert Payment.objects.count() == 12
    collection.refresh_from_db()
    held = Posting.objects.aggregate(all=Sum("reserved_cents"))["all"]
    assert collection.reserved_cents == held
    assert collection.spent_cents == 12 * 100
    assert Posting.objects.filter(worker__isnull=True, state="publishing").count() > 100


def test_of_approving_and_proposing_to_reject_one_wins(keys):
    works = confirmed()
    sessions = [work.session.pk for work in works]
    start = soon()
    calls = [["", sessions], ["rita", sessions], ["", sessions], ["grace", sessions]]
    done = together(RACING, "approve_or_propose", [[*call, start] for call in calls])
    states = dict(Submission.objects.values_list("lease__session", "state"))
    proposed = set(Rejection.objects.values_list("session", flat=True))
    assert len(proposed) == Rejection.objects.count() == done[1] + done[3]
    for session, state in states.items():
        assert state == ("disputed" if session in proposed else "approved")
    paid = Payment.objects.filter(state="confirmed").count()
    assert paid == HITS - len(proposed)


def test_of_confirming_and_withdrawing_one_wins(keys):
    works, now = confirmed(), timezone.now()
    rows = [rejections.propose(work.session, "Copied.", "rita", now).pk for work in works]
    start = soon()
    people = ["grace", "rita", "grace", "ada"]
    done = together(RACING, "confirm_or_withdraw", [[by, rows, start] for by in people])
    assert sum(done) == HITS
    for row in Rejection.objects.all():
        work = Submission.objects.get(lease__session=row.session)
        agreed = row.state == "agreed"
        assert (row.state, work.state) in {("agreed", "disputed"), ("withdrawn", "confirmed")}
        assert [step.state for step in row.steps.all()] == ["proposed", row.state]
        assert (row.confirmed_by == "grace") == agreed
