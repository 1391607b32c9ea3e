"""Work that was cut off or given back with something saved, and what is due for it."""

from dataclasses import dataclass

from django.db.models import Exists, OuterRef, QuerySet

from annotation.dashboard.collection_context import Desk
from annotation.dashboard.people.worker_names import People
from tasks.kinds.registry import kind_of
from tasks.models import Lease, LeaseState

SHOWN = 100


@dataclass(frozen=True)
class Debt:
    """`cents` is the reward's share by how much was saved; `most_cents` the whole reward.

    `blocked` tells that paying it by itself failed: the budget could not hold it.
    """

    lease: Lease
    who: str
    share_percent: int
    cents: int
    most_cents: int
    blocked: bool


def unfinished(desk: Desk) -> QuerySet[Lease]:
    """Return the leases that ended with a draft, were not taken up again and are not paid."""
    again = Lease.objects.filter(
        unit=OuterRef("unit"),
        worker=OuterRef("worker"),
        state__in=[LeaseState.LIVE, LeaseState.SUBMITTED],
    )
    return (
        Lease.objects.filter(
            unit__stage__collection=desk.collection,
            state__in=[LeaseState.EXPIRED, LeaseState.RETURNED],
            draft__isnull=False,
            submission__isnull=True,
            paid=False,
        )
        .exclude(Exists(again))
        .select_related("unit__stage", "session__posting")
        .order_by("-closed_at", "-pk")
    )


def debts_of(desk: Desk, people: People) -> list[Debt]:
    """Return the newest unfinished work with anything saved in it; one query."""
    found = [debt_of(desk, lease, people) for lease in unfinished(desk)[:SHOWN]]
    return [debt for debt in found if debt.share_percent]


def debt_of(desk: Desk, lease: Lease, people: People) -> Debt:
    """Return what is due for one lease."""
    stage = lease.unit.stage
    kind, table = kind_of(stage), desk.parameters.stages()[stage.name]
    data = (lease.draft or {}).get("data")
    wanted = kind.questions_per_hit(table) or table.items_per_hit
    reward = lease.session.posting.reward_cents
    share = kind.share_done(data if isinstance(data, dict) else {}, wanted)
    return Debt(
        lease=lease,
        who=people.name(lease.worker_id),
        share_percent=round(share * 100),
        cents=int(share * reward),
        most_cents=reward,
        blocked=lease.state == LeaseState.EXPIRED and not lease.compensated,
    )
