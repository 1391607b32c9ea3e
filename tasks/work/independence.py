"""Which units a worker may take: nobody meets their own work, nobody gives two votes."""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet

from collector.models import Stage
from common.prepared_sql import PreparedQuery
from tasks.models import Lease, LeaseState, Unit, Worker, WorkerBlock
from tasks.work.kinds.registry import get_kind

HELD = (LeaseState.LIVE, LeaseState.SUBMITTED)
Units = QuerySet[Unit, Any]
UNIT = ("pk", "position")
# How many units are read at a time: mostly the first one is free still.
FEW = 10


def suitable_units(
    stage: Stage, worker: Worker, *, qualifies: bool, balances: bool = False
) -> Iterator[Unit]:
    """Yield the stage's units with a free place that `worker` may take, in order.

    A unit the worker has begun comes first; a qualifying stage is taken once per person, and a
    unit of which the worker handed something in, also work that came too late to count, or was
    paid for what they had saved, is not handed to them again.
    balances: whether those come first whose other people have shared the fewest units with the
    worker, so that where only a part is done by several, each pair of people has as much of it.
    """
    if qualifies:
        held = Lease.objects.filter(worker=worker, state__in=HELD)
        if held.filter(unit__stage=stage).exists():
            return
    begun, others = _prepared(stage.kind)
    for pk, position in begun.rows(stage=stage.pk, worker=worker.pk):
        yield Unit(pk=pk, stage=stage, position=position)
    if balances:
        yield from _shared_with_few(stage, worker)
    last = -1
    while found := others.rows(stage=stage.pk, worker=worker.pk, last=last):
        for pk, last in found:
            yield Unit(pk=pk, stage=stage, position=last)


def has_suitable(stage: Stage, worker: Worker, *, one_at_a_time: bool) -> bool:
    """Return whether the stage has a unit for `worker` beside the one they may be at just now.

    one_at_a_time: whether that one is in the way of others only as long as they are at it; then it
    is left out of account.
    """
    left = _prepared_left(stage.kind, one_at_a_time)
    return left.first(stage=stage.pk, worker=worker.pk) is not None


def _shared_with_few(stage: Stage, worker: Worker) -> Iterator[Unit]:
    """Yield the units that the worker may take, those of the fewest shared ones first.

    That is units of others with whom the worker has shared none, then units that nobody is at, then
    the others' again: by how many they have shared.
    """
    begun_by_others, unbegun, shared = _prepared_shares(stage.kind)
    who = {"stage": stage.pk, "worker": worker.pk}
    times: dict[str, int] = dict(shared.rows(**who))
    found: dict[tuple[int, int], int] = {}
    for pk, position, other in begun_by_others.rows(**who):
        found[position, pk] = found.get((position, pk), 0) + times.get(other, 0)
    units = sorted(found, key=lambda place: (found[place], place))
    new = [place for place in units if not found[place]]
    for position, pk in new:
        yield Unit(pk=pk, stage=stage, position=position)
    last = -1
    while rows := unbegun.rows(**who, last=last):
        for pk, last in rows:
            yield Unit(pk=pk, stage=stage, position=last)
    for position, pk in units[len(new) :]:
        yield Unit(pk=pk, stage=stage, position=position)


@cache
def _prepared(kind_of_stage: str) -> tuple[PreparedQuery, PreparedQuery]:
    """Return what finds the units a worker has begun, and the next few of the others."""

    def begun(stage: int, worker: str) -> Units:
        return (
            _free(kind_of_stage, stage, worker).filter(Exists(_drafts(worker))).values_list(*UNIT)
        )

    def others(stage: int, worker: str, last: int) -> Units:
        units = _free(kind_of_stage, stage, worker).exclude(Exists(_drafts(worker)))
        return units.filter(position__gt=last).values_list(*UNIT)[:FEW]

    who = {"stage": int, "worker": str}
    return PreparedQuery(begun, **who), PreparedQuery(others, **who, last=int)


@cache
def _prepared_left(kind_of_stage: str, one_at_a_time: bool) -> PreparedQuery:
    """Return what finds a unit that is left for a worker: everybody is asked about in a round."""
    held = (LeaseState.SUBMITTED,) if one_at_a_time else HELD

    def left(stage: int, worker: str) -> Units:
        vacant = _vacant(stage, worker, held)
        units = get_kind(kind_of_stage).left_for(vacant, Worker(pk=worker))
        return units.order_by().values_list("pk")[:1]

    return PreparedQuery(left, stage=int, worker=str)


@cache
def _prepared_shares(kind_of_stage: str) -> tuple[PreparedQuery, PreparedQuery, PreparedQuery]:
    """Return what finds units that others are at and who they are, and the next few of nobody.

    The third tells how often the worker has shared a unit of the stage with whom.
    """

    def begun(stage: int, worker: str) -> Units:
        units = _free(kind_of_stage, stage, worker).filter(taken__gt=0, leases__state__in=HELD)
        return units.values_list(*UNIT, "leases__worker")

    def unbegun(stage: int, worker: str, last: int) -> Units:
        units = _free(kind_of_stage, stage, worker).filter(taken=0, position__gt=last)
        return units.values_list(*UNIT)[:FEW]

    def shared(stage: int, worker: str) -> QuerySet[Lease, Any]:
        own = Lease.objects.filter(unit__stage=stage, worker=worker, state__in=HELD).order_by()
        with_others = own.filter(unit__leases__state__in=HELD)
        return with_others.values_list("unit__leases__worker").annotate(n=Count("pk"))

    who = {"stage": int, "worker": str}
    return (
        PreparedQuery(begun, **who),
        PreparedQuery(unbegun, **who, last=int),
        PreparedQuery(shared, **who),
    )


def _drafts(worker: str) -> QuerySet[Lease]:
    return Lease.objects.filter(unit=OuterRef("pk"), worker=worker, draft__isnull=False)


def _free(kind_of_stage: str, stage: int, worker: str) -> QuerySet[Unit]:
    """Return the stage's units with a free place that the worker may take, in order."""
    free = _vacant(stage, worker).order_by("position")
    return get_kind(kind_of_stage).allowed(free, Worker(pk=worker))


def _vacant(stage: int, worker: str, held: Sequence[LeaseState] = HELD) -> QuerySet[Unit]:
    """Return the stage's units with a free place, without those that the worker had.

    None for whoever is given no more work of the collection.
    """
    blocked = WorkerBlock.objects.filter(worker=worker, collection__stages=stage)
    mine = Lease.objects.filter(worker=worker, state__in=held)
    done = Lease.objects.filter(Q(paid=True) | Q(submission__isnull=False), worker=worker)
    return (
        Unit.objects.filter(stage=stage, closed=False, taken__lt=F("redundancy"))
        .exclude(Exists(mine.filter(unit=OuterRef("pk"))))
        .exclude(Exists(done.filter(unit=OuterRef("pk"))))
        .exclude(Exists(blocked))
    )
