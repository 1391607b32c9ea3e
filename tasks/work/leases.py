"""Which units a worker may take, and their hold on a slot: claimed, extended, returned, expired."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from functools import cache
from json import dumps
from typing import Any

from django.db import transaction
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet

from collector.models import CollectionText, Stage
from collector.protocols.creation import parameters_of
from common.prepared_sql import PreparedQuery, change, insert, insert_all
from tasks.ledger import lease_reserves
from tasks.models import (
    Exposure,
    Lease,
    LeaseEnded,
    LeaseEvent,
    LeaseEventKind,
    LeaseState,
    Session,
    Unit,
    Worker,
    WorkerBlock,
)
from tasks.work.kinds.registry import get_kind, kind_of

# A longer silence between two saves is a break, not work.
LONGEST_PAUSE_SECONDS = 120
# The frame's address is signed until this long after the assignment's deadline.
LATE_WORK = timedelta(hours=1)
SAVE = """
UPDATE tasks_lease
SET draft = %(draft)s, draft_version = draft_version + 1, draft_saved_at = %(now)s,
    active_seconds = active_seconds + %(worked)s
WHERE id = %(lease)s AND draft_version = %(version)s AND state IN ('live', 'expired')
"""
SUBMIT = """
UPDATE tasks_lease SET state = 'submitted', closed_at = %(now)s, reserved_cents = 0
WHERE id = %(lease)s AND draft_version = %(version)s AND state = 'live'
    AND reserved_cents = %(reserved)s
"""
TAKE = """
UPDATE tasks_unit SET taken = taken + 1
WHERE id = %(unit)s AND closed = FALSE AND taken < redundancy
"""
WORKER_LOCK = PreparedQuery(
    lambda worker: (
        Worker.objects.select_for_update(no_key=True).filter(pk=worker).values_list("pk")
    ),
    worker=str,
)
# The newest version of each is the last.
TEXTS = PreparedQuery(
    lambda collection, stage: (
        CollectionText.objects.filter(collection=collection, name__in=[stage, "consent"])
        .order_by("version")
        .values_list("name", "pk")
    ),
    collection=int,
    stage=str,
)
# What a worker had begun of a unit before, the newest first.
BEGUN = PreparedQuery(
    lambda unit, worker: (
        Lease.objects.filter(unit=unit, worker=worker, draft__isnull=False, paid=False)
        .order_by("-id")
        .values_list("draft", "active_seconds")[:1]
    ),
    unit=int,
    worker=str,
)
HELD = (LeaseState.LIVE, LeaseState.SUBMITTED)
Units = QuerySet[Unit, Any]
UNIT = ("pk", "position")
# How many units are read at a time: mostly the first one is free still.
FEW = 10


class StaleDraft(Exception):
    """Another tab has saved a newer draft of the same lease."""


def claim(session: Session, stage: Stage, now: datetime) -> Lease | None:
    """Return the session's live lease, else a new one on a unit its worker may take, else None.

    The worker's row is locked, so that two pages of one person cannot break independence; the
    slot itself is won by a conditional update. Raises ReserveFailed while there is no
    money for it beside what somebody who was here before may still earn.
    """
    parameters = parameters_of(stage.collection)
    table = parameters.stages()[stage.name]
    with transaction.atomic():
        locking = WORKER_LOCK.bound(worker=session.worker_id)
        posting, here = lease_reserves.posting_and_open_leases(session, [locking])
        for lease in here:
            if lease.session_id == session.pk and lease.state == LeaseState.LIVE:
                return lease
        promised = lease_reserves.mark_reserves(posting, here, parameters)
        balances = bool(table.redundancy.percent)
        for unit in suitable_units(
            stage, session.worker, qualifies=table.qualifies, balances=balances
        ):
            if take_slot(unit.pk):
                own = lease_reserves.hold_reserves(session, posting, promised, unit.pk, parameters)
                ends = now + timedelta(minutes=table.allotted_minutes)
                return _hold(session, stage, unit, now, ends, own)
        if promised:
            transaction.set_rollback(True)
    return None


def take_slot(unit_id: int) -> bool:
    """Take one free slot of the unit; returns False when another worker was first."""
    return change(TAKE, unit=unit_id) == 1


def _hold(
    session: Session, stage: Stage, unit: Unit, now: datetime, ends: datetime, cents: int
) -> Lease:
    draft, worked = BEGUN.first(unit=unit.pk, worker=session.worker_id) or (None, 0)
    if session.signed_until:
        # One deadline: the marketplace's, where it has told us of one.
        ends = session.signed_until - LATE_WORK
    texts: dict[str, int] = dict(TEXTS.rows(collection=stage.collection_id, stage=stage.name))
    lease = Lease(
        unit=unit,
        worker_id=session.worker_id,
        session=session,
        taken_at=now,
        expires_at=ends,
        draft=draft,
        active_seconds=worked,
        instructions_id=texts[stage.name],
        consent_text_id=texts["consent"],
        reserved_cents=cents,
    )
    insert(lease)
    insert_all(LeaseEvent, {"lease_id": lease.pk}, [{"kind": LeaseEventKind.TAKEN}])
    shown = {"worker_id": session.worker_id, "kind": stage.kind, "at": now}
    seeds = [{"seed_id": seed} for seed in kind_of(stage).seeds_shown(unit)]
    insert_all(Exposure, shown, seeds, unless="worker_id, seed_id, kind")
    return lease


def save_draft(lease: Lease, draft: dict[str, Any], version: int, now: datetime) -> int:
    """Save what the worker has written and return the new version.

    A tab that was not told of its last save knows no newer version than before it: what it saves
    after that is taken, and an earlier turn of it that comes late is not. Time between two saves
    counts as work, up to two minutes a time. Raises StaleDraft when another tab saved since
    `version`, LeaseEnded when the lease is over.
    """
    since = lease.draft_saved_at or lease.taken_at
    worked = min(LONGEST_PAUSE_SECONDS, max(0, int((now - since).total_seconds())))
    if change(SAVE, lease=lease.pk, version=version, draft=dumps(draft), now=now, worked=worked):
        return version + 1
    lease.refresh_from_db()
    if lease.state not in (LeaseState.LIVE, LeaseState.EXPIRED):
        raise LeaseEnded
    (kept_tab, kept_turn), (tab, turn) = _saved_by(lease.draft), _saved_by(draft)
    if tab is None or tab != kept_tab:
        raise StaleDraft
    if turn <= kept_turn:
        return lease.draft_version
    return save_draft(lease, draft, lease.draft_version, now)


def _saved_by(draft: dict[str, Any] | None) -> tuple[str | None, int]:
    """Return which tab has sent a draft, None where it does not say, and as which of its saves."""
    match (draft or {}).get("saved_by"):
        case {"tab": str(tab), "turn": int(turn)}:
            return tab, turn
    return None, 0


def submit(lease: Lease, now: datetime) -> bool:
    """End the live lease by submission; False, and nothing done, unless it is as it was read.

    Expects a transaction; the lease's row stays locked until its end. What was held for the lease
    goes to its submission: `reserved_cents` stays as it was read.
    """
    version, reserved = lease.draft_version, lease.reserved_cents
    n_changed = change(SUBMIT, lease=lease.pk, now=now, version=version, reserved=reserved)
    return n_changed == 1


def follow(lease: Lease, signed_until: datetime | None) -> datetime:
    """Return the lease's end, moved to the marketplace's deadline where that is later now.

    signed_until: until when the frame's address is proven to hold. Raises LeaseEnded.
    """
    session = lease.session
    if not (session.signed_until and signed_until) or signed_until <= session.signed_until:
        return lease.expires_at
    with transaction.atomic():
        ends = signed_until - LATE_WORK
        moved = Lease.objects.filter(pk=lease.pk, state=LeaseState.LIVE).update(expires_at=ends)
        if not moved:
            raise LeaseEnded
        Session.objects.filter(pk=session.pk).update(signed_until=signed_until)
    lease.expires_at, session.signed_until = ends, signed_until
    return ends


def end(lease: Lease, state: LeaseState, now: datetime) -> bool:
    """Free the lease's slot, keeping its draft; returns False when it had ended before."""
    with transaction.atomic():
        ended = Lease.objects.filter(pk=lease.pk, state=LeaseState.LIVE).update(
            state=state, closed_at=now
        )
        if ended:
            Unit.objects.filter(pk=lease.unit_id).update(taken=F("taken") - 1)
    return bool(ended)


def expire_overdue(now: datetime) -> int:
    """End every live lease whose time is over and return how many there were."""
    overdue = Lease.objects.filter(state=LeaseState.LIVE, expires_at__lt=now)
    return sum(end(lease, LeaseState.EXPIRED, now) for lease in overdue.iterator())


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

    None for a worker who is given no more work of the collection.
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
