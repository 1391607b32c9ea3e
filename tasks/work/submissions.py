"""Takes in what a worker hands in: once, however often they press, and never lost."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import IntegrityError, transaction
from django.db.models import Case, F, Value, When

from collector.protocols.creation import parameters_of
from common.prepared_sql import insert, insert_all
from tasks.ledger import payments
from tasks.models import (
    Grant,
    GrantState,
    Lease,
    LeaseEnded,
    LeaseEvent,
    LeaseEventKind,
    LeaseState,
    Qualification,
    ReaderHint,
    Submission,
    Unit,
)
from tasks.work import leases
from tasks.work.kinds.kind import Data, Item, protocol_problems
from tasks.work.kinds.registry import kind_of
from tasks.work.leases import LONGEST_PAUSE_SECONDS, take_slot
from tasks.work.reading import documents_of
from tasks.work.widgets.problems import Problem

COUNT = "UPDATE tasks_unit SET submitted = submitted + 1 WHERE id = %(unit)s"


@dataclass(frozen=True)
class CheckedSubmission:
    """Cleaned data, what blocks a submission, and advice that does not."""

    data: Data
    problems: list[Problem]
    hints: list[Problem]


def examine(lease: Lease, data: object, items: Sequence[Item]) -> CheckedSubmission:
    """Return what the kind's widgets and the protocol's checks say of `data`, all at once."""
    stage = lease.unit.stage
    parameters = parameters_of(stage.collection)
    table = parameters.stages()[stage.name]
    kind = kind_of(stage)
    cleaned, problems = kind.clean(
        kind.with_given_answers(lease, data), items, documents_of(lease, items), table, parameters
    )
    if not problems:
        problems = kind.unfinished(lease)
        # What is wrong with the whole leaves nothing that could be paid in part.
        cleaned = {} if any(problem.index is None for problem in problems) else cleaned
    found = protocol_problems(stage.collection.protocol, cleaned, items, table, parameters)
    said = {(problem.index, problem.field) for problem in problems}
    blocking = problems + [
        problem
        for problem in found
        if not problem.hint and (problem.index, problem.field) not in said
    ]
    return CheckedSubmission(cleaned, blocking, [problem for problem in found if problem.hint])


def note_reader(lease: Lease, hints: Sequence[Problem], *, kept: bool = False) -> None:
    """Remember which questions their writer is told of that a reader answers from too little.

    kept: they were sent for good before.
    """
    ReaderHint.objects.bulk_create(
        [ReaderHint(lease=lease, place=place, kept=kept) for place in _read(hints)],
        ignore_conflicts=True,
    )


def keep_reader(lease: Lease, hints: Sequence[Problem]) -> None:
    """Remember which of them were handed in as they were."""
    kept = _read(hints)
    if kept:
        ReaderHint.objects.filter(lease=lease, place__in=kept).update(kept=True)


def _read(hints: Sequence[Problem]) -> list[int]:
    return sorted({hint.index for hint in hints if hint.from_reader and hint.index is not None})


def hand_in(lease: Lease, data: Data, now: datetime, *, synthetic: bool) -> Submission:
    """Return the lease's one submission, made now or before, of already examined `data`.

    Late work counts while its slot is free; otherwise it is kept and paid but not counted. Where
    its worker has handed in the same unit again meanwhile, that pays for it. Raises LeaseEnded once
    the time for it is over, and what was saved has been paid.
    """
    try:
        return _hand_in(lease, data, now, synthetic=synthetic)
    except IntegrityError:
        # Another press of the button, or an equal question, won the race: look again. Or what the
        # worker did before with the same HIT is to be paid by now.
        return _hand_in(lease, data, now, synthetic=synthetic, again=True)


def _hand_in(
    lease: Lease, data: Data, now: datetime, *, synthetic: bool, again: bool = False
) -> Submission:
    other = None
    with transaction.atomic():
        counts = leases.submit(lease, now)
        if not counts:
            lease = locked(lease.pk)
            done = Submission.objects.filter(lease=lease).first()
            if done:
                return done
            if lease.compensated:
                # What was saved of it is paid: it is not paid a second time.
                raise LeaseEnded
            other = other_of(lease)
            # A lease that is not as it was read is ended, and its work may not count.
            counts = lease.state == LeaseState.LIVE or _take_late_slot(lease, other)
            ended = {"state": LeaseState.SUBMITTED, "closed_at": now} if counts else {}
            if counts or lease.reserved_cents:
                # What was held for it goes to its submission.
                Lease.objects.filter(pk=lease.pk).update(reserved_cents=0, **ended)
        stage = lease.unit.stage
        parameters = parameters_of(stage.collection)
        worked = (now - (lease.draft_saved_at or lease.taken_at)).total_seconds()
        submission = Submission(
            lease=lease,
            raw=data,
            receipt=secrets.token_hex(16),
            counts=counts,
            synthetic=synthetic,
            received_at=now,
            active_seconds=lease.active_seconds + min(LONGEST_PAUSE_SECONDS, max(0, int(worked))),
        )
        # Locks the unit: what is handed in for it at once is stored in one order throughout.
        insert(submission, before=[(COUNT, {"unit": lease.unit_id})] if counts else [])
        if counts:
            kind_of(stage).store(submission, data)
            if parameters.stages()[stage.name].qualifies:
                record_attempt(submission)
        # Only now: equal questions are numbered by whose came first.
        insert_all(LeaseEvent, {"lease_id": lease.pk}, [{"kind": LeaseEventKind.HANDED_IN}])
        if other is None:
            posting = lease.session.posting
            payments.owe_reward(submission, posting, parameters, now, again=again)
        else:
            payments.settle_with_other(submission, now)
    return submission


def other_of(lease: Lease) -> Submission | None:
    """Return what the worker has handed in of the same unit with another lease, if anything."""
    others = Submission.objects.filter(lease__unit=lease.unit_id, lease__worker=lease.worker_id)
    return others.exclude(lease=lease).order_by("-counts", "id").first()


def locked(lease_id: int) -> Lease:
    """Return a lease with the rows around it; its own stays locked until the transaction ends."""
    return (
        Lease.objects.select_for_update(of=("self",))
        .select_related("unit__stage__collection", "session__posting")
        .get(pk=lease_id)
    )


def _take_late_slot(lease: Lease, other: Submission | None) -> bool:
    """Take a slot for work that comes after its lease ended; returns False when none is free.

    Where the worker holds the unit again, in another tab, that lease gives its slot; where they
    have handed it in again, that work counts. Independence is asked anew: the worker may have been
    shown more since.
    """
    if other is not None and other.counts:
        return False
    again = Lease.objects.filter(
        unit_id=lease.unit_id, worker_id=lease.worker_id, state=LeaseState.LIVE
    ).update(state=LeaseState.RETURNED)
    if again:
        return True
    unit = Unit.objects.filter(pk=lease.unit_id)
    allowed = kind_of(lease.unit.stage).allowed(unit, lease.worker).exists()
    return allowed and take_slot(lease.unit_id)


def record_attempt(submission: Submission) -> None:
    """Put a qualification submission before the requester; expects its transaction.

    Whose being let in without a test was taken back is judged by it as anybody is.
    """
    lease = submission.lease
    qualification, _ = Qualification.objects.get_or_create(stage=lease.unit.stage)
    grant, made = Grant.objects.get_or_create(
        qualification=qualification,
        worker_id=lease.worker_id,
        defaults={"submitted_at": submission.received_at},
    )
    if not made:
        Grant.objects.filter(
            pk=grant.pk, state=GrantState.DECLINED, submitted_at__isnull=True
        ).update(
            state=GrantState.SUBMITTED,
            submitted_at=submission.received_at,
            is_let_in=False,
            note="",
            decided_by="",
            decided_at=None,
            # That they have it no more is no answer to what they hand in.
            told_state=Case(
                When(told_state=GrantState.DECLINED, then=Value("")), default=F("told_state")
            ),
        )
