"""What a HIT is at a given time: everything the clock alone decides, settled under its row lock."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Count, Min, Q, Sum
from django.db.models.functions import Greatest

from common.prepared_sql import PreparedQuery
from marketplace.models import HIT, Assignment, Contest, Kind, Requester, State
from marketplace.money import funds
from marketplace.notifications.events import record_event, record_status_event
from marketplace.router import DATABASE

SETTLE_AT_ONCE = 500
DISPOSED_AFTER = timedelta(days=120)
DUE = PreparedQuery(
    lambda requester, now: HIT.objects.filter(
        requester=requester, next_due_at__lte=now
    ).values_list("pk")[:1],
    requester=int,
    now=datetime,
)

SUM_NAMES = (
    "n_pending",
    "n_awaiting",
    "n_completed",
    "awaiting_cents",
    "pending_cents",
    "deadline",
    "auto_approval_at",
    "contest_due_at",
)
NOTHING = (0, 0, 0, 0, 0, None, None, None)
PENDING, AWAITING = Q(state=State.ACCEPTED), Q(state=State.SUBMITTED)
CONTESTED = Q(state=State.REJECTED, contest__answered_at=None)
SUMS = PreparedQuery(
    lambda hit, reward_cents: (
        Assignment.objects.filter(hit=hit)
        .values("hit")
        .annotate(
            n_pending=Count("pk", filter=PENDING),
            n_awaiting=Count("pk", filter=AWAITING),
            n_completed=Count("pk", filter=Q(state__in=[State.APPROVED, State.REJECTED])),
            awaiting_cents=Sum("reward_cents", filter=AWAITING, default=0),
            # A place that is given up costs the type's reward again, so that much is held too.
            pending_cents=Sum(Greatest("reward_cents", reward_cents), filter=PENDING, default=0),
            deadline=Min("deadline", filter=PENDING),
            auto_approval_at=Min("auto_approval_at", filter=AWAITING),
            contest_due_at=Min("contest__due_at", filter=CONTESTED),
        )
        .values_list(*SUM_NAMES)
    ),
    hit=int,
    reward_cents=int,
)


@contextmanager
def locked(now: datetime, **which: Any) -> Iterator[HIT]:
    """Hold the lock of one HIT, settled at `now`, for the length of the block (one transaction).

    Raises HIT.DoesNotExist. Whoever changes an assignment calls `refresh` before the block ends.
    """
    with transaction.atomic(using=DATABASE):
        hit = (
            HIT.objects.select_for_update(of=("self",))
            .select_related("hit_type", "requester")
            .get(**which)
        )
        settle(hit, now)
        yield hit


def settle_account(requester: Requester, now: datetime) -> bool:
    """Settle what is due among a requester's HITs; returns whether anything was."""
    is_due = DUE.first(requester=requester.pk, now=now) is not None
    if is_due:
        settle_due(now, requester=requester)
    return is_due


def settle_due(now: datetime, **scope: Any) -> None:
    """Settle every HIT in scope in which time has brought something about."""
    due = HIT.objects.filter(next_due_at__lte=now, **scope).order_by("pk").distinct()
    while keys := list(due.values_list("pk", flat=True)[:SETTLE_AT_ONCE]):
        for key in keys:
            with locked(now, pk=key):
                pass


def settle(hit: HIT, now: datetime) -> None:
    """Abandon what is past its deadline and approve what nobody decided; expects the HIT's lock."""
    if hit.next_due_at is None or hit.next_due_at > now:
        return
    overdue = hit.assignments.filter(state=State.ACCEPTED, deadline__lte=now)
    for assignment in overdue:
        assignment.state, assignment.ended_at = State.ABANDONED, assignment.deadline
        assignment.save()
        record_event(hit, "AssignmentAbandoned", assignment.deadline, assignment.assignment_id)
    undecided = hit.assignments.filter(state=State.SUBMITTED, auto_approval_at__lte=now)
    undecided = undecided.select_related("worker")
    paid_cents = 0
    for assignment in undecided.order_by("pk"):
        paid_cents += approve(hit, assignment, assignment.auto_approval_at)
    _approve_contested(hit, now)
    refresh(hit, now, paid_cents)


def _approve_contested(hit: HIT, now: datetime) -> None:
    """Approve rejected work whose contest nobody answered in time; expects the HIT's lock.

    A rejection freed its money, so the requester may have none left: it is then tried daily.
    """
    unanswered = Contest.objects.filter(
        assignment__hit=hit, assignment__state=State.REJECTED, answered_at=None, due_at__lte=now
    ).select_related("assignment__worker")
    for contest in unanswered.order_by("assignment"):
        try:
            funds.move(hit.requester_id, 0, contest.assignment.reward_cents)
        except funds.InsufficientFundsError:
            contest.due_at = now + timedelta(days=1)
            contest.save(update_fields=["due_at"])
        else:
            approve(hit, contest.assignment, contest.due_at)


def approve(hit: HIT, assignment: Assignment, at: datetime | None) -> int:
    """Mark an assignment approved and owe its reward; returns the cents that `refresh` must spend.

    What a closed account still earns is its person's, whose account is another now. Expects the
    HIT's lock.
    """
    assert at is not None
    assignment.state, assignment.approved_at = State.APPROVED, at
    assignment.save()
    record_event(hit, "AssignmentApproved", at, assignment.assignment_id)
    cents, worker_id = assignment.reward_cents, assignment.worker.account_id
    funds.owe(Kind.REWARD, assignment.pk, hit.requester_id, worker_id, cents, at)
    return cents


def reject(hit: HIT, assignment: Assignment, feedback: str, at: datetime) -> None:
    """Mark an assignment rejected, with what the worker reads; expects the HIT's lock."""
    assignment.state, assignment.rejected_at = State.REJECTED, at
    assignment.feedback = feedback
    assignment.save()
    record_event(hit, "AssignmentRejected", at, assignment.assignment_id)


def refresh(hit: HIT, now: datetime, paid_cents: int = 0) -> None:
    """Bring counters, held money and the next due time in line with the assignments.

    Expects the HIT's lock; raises InsufficientFundsError when more must be held than there is.
    """
    reward_cents = hit.hit_type.reward_cents
    row = SUMS.first(hit=hit.pk, reward_cents=reward_cents) or NOTHING
    sums = dict(zip(SUM_NAMES, row, strict=True))
    hit.n_pending, hit.n_awaiting = sums["n_pending"], sums["n_awaiting"]
    hit.n_completed = sums["n_completed"]
    taken = hit.n_pending + hit.n_awaiting + hit.n_completed
    hit.n_open = hit.max_assignments - taken
    assignable = hit.is_assignable(now)
    if assignable:
        hit.is_reviewing = False
    due = [sums["deadline"], sums["auto_approval_at"], sums["contest_due_at"]]
    due.append(hit.expires_at if assignable else _disposal(hit, now))
    hit.next_due_at = min((time for time in due if time is not None), default=None)
    held_cents = sums["awaiting_cents"] + sums["pending_cents"]
    held_cents += hit.n_open * reward_cents if assignable else 0
    funds.move(hit.requester_id, held_cents - hit.held_cents, paid_cents)
    hit.held_cents = held_cents
    is_complete = hit.status(now) == "Reviewable" and hit.told_status != "Reviewable"
    record_status_event(hit, hit.status(now), now)
    hit.save()
    if is_complete and hit.has_review_policies:
        # Reviews decide work, for which they need all of the above.
        from marketplace.hits.review_policies import review_hit

        review_hit(hit, now)


def _disposal(hit: HIT, now: datetime) -> datetime | None:
    """Dispose of a HIT that nobody has touched for long; returns when that will be due, else None.

    Expects counters that are right and a HIT that is not assignable.
    """
    if hit.disposed_at is not None or hit.n_pending or hit.n_awaiting:
        return None
    disposal_at = max(hit.created_at, hit.expires_at) + DISPOSED_AFTER
    if disposal_at > now:
        return disposal_at
    hit.disposed_at = disposal_at
    return None
