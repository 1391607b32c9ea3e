"""A HIT's counters and held money, brought in line with its assignments."""

from datetime import datetime, timedelta

from django.db.models import Count, Min, Q, Sum
from django.db.models.functions import Greatest

from common.prepared_sql import PreparedQuery, update
from marketplace.models import HIT, Assignment, AssignmentState
from marketplace.money import funds
from marketplace.notifications.events import record_status_event

DISPOSED_AFTER = timedelta(days=120)
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
PENDING, AWAITING = Q(state=AssignmentState.ACCEPTED), Q(state=AssignmentState.SUBMITTED)
CONTESTED = Q(state=AssignmentState.REJECTED, contest__answered_at=None)
SUMS = PreparedQuery(
    lambda hit, reward_cents: (
        Assignment.objects.filter(hit=hit)
        .values("hit")
        .annotate(
            n_pending=Count("pk", filter=PENDING),
            n_awaiting=Count("pk", filter=AWAITING),
            n_completed=Count(
                "pk", filter=Q(state__in=[AssignmentState.APPROVED, AssignmentState.REJECTED])
            ),
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


def update_counters(hit: HIT, now: datetime, paid_cents: int = 0) -> bool:
    """Bring counters, held money and the next due time in line; return whether work is all in now.

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
    # What time ends was due by then; a requester ends a HIT now, whatever moment they name.
    is_ended_by_time = hit.next_due_at is not None and hit.next_due_at <= hit.expires_at
    ended_at = min(now, hit.expires_at) if is_ended_by_time else now
    hit.next_due_at = min((time for time in due if time is not None), default=None)
    held_cents = sums["awaiting_cents"] + sums["pending_cents"]
    held_cents += hit.n_open * reward_cents if assignable else 0
    funds.move(hit.requester_id, held_cents - hit.held_cents, paid_cents)
    hit.held_cents = held_cents
    is_complete = hit.status(now) == "Reviewable" and hit.told_status != "Reviewable"
    record_status_event(hit, hit.status(now), now, ended_at)
    update(hit)
    return is_complete


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
