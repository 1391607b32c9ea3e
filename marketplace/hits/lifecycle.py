"""Settles HITs under their row lock: what time alone abandons, approves and disposes of."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

from django.db import connections, transaction
from django.db.models import Q

from common.prepared_sql import JoinedQuery, PreparedQuery, Statements, Table
from common.wrong_clocks import CLOCK, SKEW, pull_back
from marketplace.hits.decisions import approve
from marketplace.hits.review_policies import refresh
from marketplace.models import HIT, Assignment, AssignmentState, Contest, HITType, Requester
from marketplace.money import funds
from marketplace.notifications.events import record_event
from marketplace.router import DATABASE

SETTLE_AT_ONCE = 500
MENDED_EVERY_SECONDS = 3600
_mended = float("-inf")
DUE = PreparedQuery(
    lambda requester, now: HIT.objects.filter(
        requester=requester, next_due_at__lte=now
    ).values_list("pk")[:1],
    requester=int,
    now=datetime,
)


# With their types and requesters.
HITS = JoinedQuery(
    Table("hit", HIT, "*"),
    Table("kind", HITType, "*", "kind.id = hit.hit_type_id"),
    Table("requester", Requester, "*", "requester.id = hit.requester_id"),
)


@contextmanager
def locked(now: datetime, pk: int) -> Iterator[HIT]:
    """Hold the lock of one HIT, settled at `now`, for the length of the block (one transaction).

    Raises HIT.DoesNotExist. Whoever changes an assignment calls `refresh` before the block ends.
    """
    with transaction.atomic(using=DATABASE):
        yield lock(now, id=pk)


def lock(now: datetime, before: Statements = (), **key: int | str) -> HIT:
    """Return the HIT with this `id` or `hit_id`, settled at `now`; as `locked`, in a transaction.

    Its lock is held until that ends. before: statements after which the HIT is looked for. Raises
    HIT.DoesNotExist.
    """
    [column] = key
    locking = "FOR UPDATE OF hit" if connections[DATABASE].vendor == "postgresql" else ""
    where = f"hit.{column} = %({column})s {locking}"
    # A HIT that got another type while this waited is not joined with that one: it is asked again.
    found = HITS.first(where, before, **key) or HITS.first(where, (), **key)
    if found is None:
        raise HIT.DoesNotExist
    hit, hit.hit_type, hit.requester = found
    settle(hit, now)
    return hit  # type: ignore[no-any-return]


def settle_account(requester: Requester, now: datetime) -> None:
    """Settle what is due among a requester's HITs.

    What was read before is out of date afterwards, also where nothing was due here any more:
    another process may have settled it since. Now and then all times are looked at, too.
    """
    global _mended
    if CLOCK.has_jumped():
        return
    if time.monotonic() - _mended > MENDED_EVERY_SECONDS:
        _mended = time.monotonic()
        mend_times(now)
    if DUE.first(requester=requester.pk, now=now) is not None:
        settle_due(now, requester=requester)


def settle_due(now: datetime, **scope: Any) -> None:
    """Settle every HIT in scope in which time has brought something about; see `settle`."""
    due = HIT.objects.filter(next_due_at__lte=now, **scope).order_by("pk").distinct()
    # By a clock that has jumped nothing is settled: it would be found due again and again.
    while not CLOCK.has_jumped() and (
        keys := list(due.values_list("pk", flat=True)[:SETTLE_AT_ONCE])
    ):
        for key in keys:
            with locked(now, pk=key):
                pass


def mend_times(now: datetime) -> int:
    """Have what a clock that was ahead says begins later begin now; returns how many HITs had it.

    So it ends, or is approved, in its own time.
    """
    late = now + SKEW
    begun = Q(state=AssignmentState.ACCEPTED, accepted_at__gt=late)
    begun |= Q(state=AssignmentState.SUBMITTED, submitted_at__gt=late)
    begun |= Q(contest__answered_at=None, contest__raised_at__gt=late)
    rows = Assignment.objects.filter(begun).order_by("hit_id")
    keys = list(rows.values_list("hit_id", flat=True).distinct())
    for key in keys:
        with locked(now, pk=key) as hit:
            own = hit.assignments
            held = own.filter(state=AssignmentState.ACCEPTED)
            pull_back(held, "accepted_at", now, "deadline")
            waiting = own.filter(state=AssignmentState.SUBMITTED)
            pull_back(waiting, "submitted_at", now, "auto_approval_at")
            contests = Contest.objects.filter(assignment__hit=hit, answered_at=None)
            pull_back(contests, "raised_at", now, "due_at")
            refresh(hit, now)
    return len(keys)


def settle(hit: HIT, now: datetime) -> None:
    """Abandon what is past its deadline and approve what nobody decided; expects the HIT's lock.

    Nothing of that while the clock has just jumped: it may jump back, and this could not.
    """
    if hit.next_due_at is None or hit.next_due_at > now or CLOCK.has_jumped():
        return
    overdue = hit.assignments.filter(state=AssignmentState.ACCEPTED, deadline__lte=now)
    for assignment in overdue:
        assignment.state, assignment.ended_at = AssignmentState.ABANDONED, assignment.deadline
        assignment.save(update_fields=["state", "ended_at"])
        record_event(hit, "AssignmentAbandoned", assignment.deadline, assignment.assignment_id)
    undecided = hit.assignments.filter(state=AssignmentState.SUBMITTED, auto_approval_at__lte=now)
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
        assignment__hit=hit,
        assignment__state=AssignmentState.REJECTED,
        answered_at=None,
        due_at__lte=now,
    ).select_related("assignment")
    for contest in unanswered.order_by("assignment"):
        try:
            funds.move(hit.requester_id, 0, contest.assignment.reward_cents)
        except funds.InsufficientFundsError:
            contest.due_at = now + timedelta(days=1)
            contest.save(update_fields=["due_at"])
        else:
            approve(hit, contest.assignment, contest.due_at)
