"""Brings two workers who wait together: one claims a partner on arrival, a job sweeps the rest."""

import random
import time
from collections.abc import Iterator
from datetime import datetime

from django.db import transaction
from django.db.models import F, Q, QuerySet

from collector.creation import parameters_of
from collector.models import Stage
from tasks import budget
from tasks.dialog.earnings import longest_dialog_cents
from tasks.dialog.presence import who_are_present
from tasks.dialog.waiting import stop_clock
from tasks.models import (
    Dialog,
    DialogState,
    Exposure,
    LeaseState,
    PartnerReport,
    Ticket,
    TicketState,
    Topic,
    Worker,
)
from tasks.statements import insert_all

# How many of those who have waited longest are looked at before one waits oneself.
LOOKED_AT = 20
# Two who come in the same moment miss each other; each looks again, not at the same time.
AGAIN_AFTER_SECONDS = (0.01, 0.03, 0.1)


class NoMoney(Exception):
    """The budget cannot hold what both could earn: nobody is paired until it is raised."""


def seek(ticket: Ticket, now: datetime, rng: random.Random) -> Dialog | None:
    """Return the dialog that the ticket is in, begun now where a partner waits, else None.

    Looks again a few times while there is somebody whom others are just looking at.
    """
    dialog = claim(ticket, now, rng)
    for pause in AGAIN_AFTER_SECONDS:
        if dialog or not _partners(ticket, now).exists():
            break
        time.sleep(pause * rng.random())
        dialog = claim(ticket, now, rng)
    return dialog


def claim(ticket: Ticket, now: datetime, rng: random.Random) -> Dialog | None:
    """Return the dialog that the ticket is in, begun now where a partner is free, else None."""
    return _begin_any(ticket, now, rng) or open_dialog(ticket)


def sweep(stage: Stage, now: datetime, rng: random.Random) -> list[Dialog]:
    """Pair those who wait and missed each other, whoever came first; returns the new dialogs."""
    waiting = who_are_present(Ticket.objects.filter(stage=stage, state=TicketState.WAITING), now)
    found: list[Dialog] = []
    paired: set[int] = set()
    for ticket in waiting.order_by("id"):
        dialog = None if ticket.pk in paired else _begin_any(ticket, now, rng)
        if dialog:
            found.append(dialog)
            paired |= {dialog.student_ticket_id, dialog.teacher_ticket_id}
    return found


def open_dialog(ticket: Ticket) -> Dialog | None:
    """Return the dialog that the ticket is in now, None while it waits."""
    holds = Q(student_ticket=ticket) | Q(teacher_ticket=ticket)
    return Dialog.objects.filter(holds).exclude(state=DialogState.OVER).first()


def _begin_any(ticket: Ticket, now: datetime, rng: random.Random) -> Dialog | None:
    """Return a dialog begun now where the ticket waits and a partner is free, else None.

    Locks the ticket's row and then that of a partner whom nobody else is looking at, so that two
    who arrive at once may miss each other: `sweep` finds them. With the tickets their workers
    are locked, as they are by whoever hands out work, so that nobody is shown a section in
    between.
    """
    try:
        with transaction.atomic():
            mine = _lock(Ticket.objects.filter(pk=ticket.pk)).get()
            if mine.state != TicketState.WAITING or mine.lease.state != LeaseState.LIVE:
                return None
            stage = Stage.objects.select_related("collection").get(pk=mine.stage_id)
            for partner in _one_by_one(_partners(mine, now)):
                dialog = _pair(stage, mine, partner, now, rng)
                if dialog:
                    return dialog
    except NoMoney:
        return None
    return None


def _lock(tickets: QuerySet[Ticket], *, skip: bool = False) -> QuerySet[Ticket]:
    """Lock tickets with their workers; what others hold is waited for, or left out."""
    return tickets.select_related("worker", "lease").select_for_update(
        of=("self", "worker"), no_key=True, skip_locked=skip
    )


def _partners(mine: Ticket, now: datetime) -> QuerySet[Ticket]:
    """Return who could be the partner, whoever came first."""
    complaints = PartnerReport.objects.filter(
        Q(reporter=mine.worker_id) | Q(reported=mine.worker_id)
    )
    avoided = {mine.worker_id}
    for pair in complaints.values_list("reporter_id", "reported_id"):
        avoided.update(pair)
    waiting = Ticket.objects.filter(
        stage=mine.stage_id, state=TicketState.WAITING, lease__state=LeaseState.LIVE
    )
    roles = Q(can_teach=True) if not mine.can_teach else Q()
    roles &= Q(can_ask=True) if not mine.can_ask else Q()
    return who_are_present(waiting, now).filter(roles).exclude(worker__in=avoided).order_by("id")


def _one_by_one(partners: QuerySet[Ticket]) -> Iterator[Ticket]:
    """Yield those whom nobody else is looking at, each locked before it is looked at."""
    last = 0
    for _ in range(LOOKED_AT):
        partner = _lock(partners.filter(pk__gt=last), skip=True).first()
        if partner is None:
            return
        last = partner.pk
        yield partner


def _pair(
    stage: Stage, mine: Ticket, partner: Ticket, now: datetime, rng: random.Random
) -> Dialog | None:
    """Begin a dialog of two locked tickets, None without a topic new to both; raises NoMoney."""
    topic = _topic(stage, [mine.worker, partner.worker])
    if topic is None:
        return None
    student, teacher = rng.choice(list(_castings(mine, partner)))
    parameters = parameters_of(stage.collection)
    held = longest_dialog_cents(parameters.stages()[stage.name], parameters)
    Topic.objects.filter(pk=topic.pk).update(taken=F("taken") + 1, begun=F("begun") + 1)
    dialog = Dialog.objects.create(
        stage=stage,
        topic=topic,
        ordinal=topic.begun,
        student_ticket=student,
        teacher_ticket=teacher,
        student=student.worker,
        teacher=teacher.worker,
        began_at=now,
        moved_at=now,
        reserved_cents=held,
    )
    _take_out(student, teacher, now)
    shown = {"seed_id": topic.seed_id, "kind": stage.kind, "at": now}
    insert_all(
        Exposure,
        shown,
        [{"worker_id": student.worker_id}, {"worker_id": teacher.worker_id}],
        unless="worker_id, seed_id, kind",
    )
    # The collection's row last: everybody who is paired needs it.
    if not budget.reserve(stage.collection_id, held):
        raise NoMoney
    return dialog


def _take_out(student: Ticket, teacher: Ticket, now: datetime) -> None:
    """Let two locked tickets wait no longer; they are asked whether they are there."""
    for ticket in (student, teacher):
        stop_clock(ticket, now)
        ticket.state, ticket.ready = TicketState.CHECKING, False
    Ticket.objects.bulk_update([student, teacher], ["state", "ready", "waited_seconds"])


def _castings(one: Ticket, other: Ticket) -> Iterator[tuple[Ticket, Ticket]]:
    """Yield (student, teacher) for every way in which both qualify."""
    for student, teacher in ((one, other), (other, one)):
        if student.can_ask and teacher.can_teach:
            yield student, teacher


def _topic(stage: Stage, workers: list[Worker]) -> Topic | None:
    """Return the first topic with a free place that neither worker has seen in any role, locked.

    One that others are just taking is left out: none may be found although there is one.
    """
    seen = Exposure.objects.filter(worker__in=workers).values("seed_id")
    free = Topic.objects.filter(stage=stage, taken__lt=F("wanted")).exclude(seed__in=seen)
    return free.order_by("id").select_for_update(no_key=True, skip_locked=True).first()
