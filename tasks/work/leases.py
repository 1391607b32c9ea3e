"""A worker's hold on a slot: claimed, extended, returned, or expired."""

from datetime import datetime, timedelta
from json import dumps
from typing import Any

from django.db import transaction
from django.db.models import F

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
)
from tasks.work.independence import suitable_units
from tasks.work.kinds.registry import kind_of

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
