"""Which units a worker may take: nobody meets their own work, nobody gives two votes."""

from collections.abc import Iterator

from django.db.models import Exists, F, OuterRef, QuerySet

from collector.models import Stage
from tasks.kinds import kind
from tasks.models import Lease, LeaseState, Unit, Worker

HELD = (LeaseState.LIVE, LeaseState.SUBMITTED)
# How many units are read at a time: mostly the first one is free still.
FEW = 10


def suitable_units(stage: Stage, worker: Worker, *, qualifies: bool) -> Iterator[Unit]:
    """Yield the stage's units with a free place that `worker` may take, in order.

    A unit the worker has begun comes first; a qualifying stage is taken once per person, and a
    unit whose unfinished work was paid for is not handed to that worker again.
    """
    held = Lease.objects.filter(worker=worker, state__in=HELD)
    begun = Lease.objects.filter(unit=OuterRef("pk"), worker=worker, draft__isnull=False)
    if qualifies and held.filter(unit__stage=stage).exists():
        return
    free = (
        Unit.objects.filter(stage=stage, closed=False, taken__lt=F("redundancy"))
        .exclude(Exists(held.filter(unit=OuterRef("pk"))))
        .exclude(Exists(Lease.objects.filter(unit=OuterRef("pk"), worker=worker, paid=True)))
        .order_by("position")
    )
    allowed: QuerySet[Unit] = kind(stage.kind).allowed(free, worker)
    yield from allowed.filter(Exists(begun))
    others = allowed.exclude(Exists(begun))
    last = -1
    while found := list(others.filter(position__gt=last)[:FEW]):
        yield from found
        last = found[-1].position
