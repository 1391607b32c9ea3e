"""What a collection still has under way: HITs that are up, people at work, money not settled."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Exists, F, Max, OuterRef, Sum

from collector.models import Collection
from collector.protocols.creation import parameters_of
from tasks.models import (
    Lease,
    LeaseState,
    Payment,
    PaymentState,
    Posting,
    PostingState,
    Unit,
)


@dataclass(frozen=True)
class UnfinishedWork:
    """`hits` nobody works on hold `held_cents`; whoever is at work has time until `until`.

    `places` of the main task nobody has handed in; `due_cents` is owed and not confirmed, fees
    included.
    """

    hits: int
    held_cents: int
    at_work: int
    until: datetime | None
    places: int
    due_cents: int


def unfinished_work_of(collection: Collection) -> UnfinishedWork:
    """Return what is under way now; four queries."""
    stages = parameters_of(collection).stages()
    main = [name for name, table in stages.items() if not table.qualifies]
    at_work = Lease.objects.filter(session__posting=OuterRef("pk"), state=LeaseState.LIVE)
    # Ordinary HITs that are up and that nobody works on.
    idle = Posting.objects.filter(
        ~Exists(at_work),
        stage__collection=collection,
        worker__isnull=True,
        state__in=(PostingState.PUBLISHING, PostingState.LIVE),
    )
    hits = idle.aggregate(n=Count("pk"), cents=Sum("reserved_cents", default=0))
    live = Lease.objects.filter(
        unit__stage__collection=collection, state=LeaseState.LIVE
    ).aggregate(n=Count("pk"), until=Max("expires_at"))
    places = Unit.objects.filter(
        stage__collection=collection, stage__name__in=main, closed=False
    ).aggregate(n=Sum(F("redundancy") - F("submitted"), default=0))
    due = Payment.objects.filter(collection=collection, state=PaymentState.DUE).aggregate(
        cents=Sum(F("amount_cents") + F("fee_cents"), default=0)
    )
    return UnfinishedWork(
        hits=hits["n"],
        held_cents=hits["cents"],
        at_work=live["n"],
        until=live["until"],
        places=places["n"],
        due_cents=due["cents"],
    )
