"""Brings two workers who wait together: one claims a partner on arrival, a job sweeps the rest."""

import random
from collections.abc import Iterator
from datetime import datetime

from django.db import transaction
from django.db.models import F, Q, QuerySet

from collector.creation import parameters_of
from collector.models import Stage
from tasks import budget
from tasks.dialog.limits import limits_of
from tasks.dialog.presence import SILENCE
from tasks.dialog.rules import most_cents
from tasks.models import (
    Dialog,
    DialogState,
    Exposure,
    PartnerReport,
    Ticket,
    TicketState,
    Topic,
)

# How many of those who wait longest are looked at before one waits oneself.
LOOKED_AT = 20


def claim(ticket: Ticket, now: datetime, rng: random.Random) -> Dialog | None:
    """Return the dialog that the ticket is in, begun now where a partner waits, else None.

    Locks the ticket's row and then those of partners nobody else is looking at, so that two who
    arrive at once may miss each other: `sweep` finds them.
    """
    with transaction.atomic():
        mine = Ticket.objects.select_for_update(no_key=True).get(pk=ticket.pk)
        if mine.state in (TicketState.CHECKING, TicketState.TALKING):
            return open_dialog(mine)
        if mine.state != TicketState.WAITING:
            return None
        for partner in _partners(mine, now):
            dialog = _pair(mine, partner, now, rng)
            if dialog:
                return dialog
    return None


def sweep(stage: Stage, now: datetime, rng: random.Random) -> int:
    """Pair those who wait and missed each other, the longest wait first; returns how many pairs."""
    waiting = _present(Ticket.objects.filter(stage=stage, state=TicketState.WAITING), now)
    pairs = 0
    for ticket in waiting.order_by("waiting_since", "id"):
        ticket.refresh_from_db(fields=["state"])
        if ticket.state == TicketState.WAITING:
            pairs += claim(ticket, now, rng) is not None
    return pairs


def open_dialog(ticket: Ticket) -> Dialog | None:
    """Return the dialog that the ticket is in now, None while it waits."""
    holds = Q(student_ticket=ticket) | Q(teacher_ticket=ticket)
    return Dialog.objects.filter(holds).exclude(state=DialogState.OVER).first()


def _present(tickets: QuerySet[Ticket], now: datetime) -> QuerySet[Ticket]:
    return tickets.filter(connections__gt=0, seen_at__gt=now - SILENCE)


def _partners(mine: Ticket, now: datetime) -> QuerySet[Ticket]:
    """Return who could be the partner, the longest wait first, their rows locked as they come."""
    complaints = PartnerReport.objects.filter(
        Q(reporter=mine.worker_id) | Q(reported=mine.worker_id)
    )
    avoided = {
        worker for pair in complaints.values_list("reporter_id", "reported_id") for worker in pair
    }
    waiting = Ticket.objects.filter(stage=mine.stage_id, state=TicketState.WAITING)
    roles = Q(can_teach=True) if not mine.can_teach else Q()
    roles &= Q(can_ask=True) if not mine.can_ask else Q()
    found = _present(waiting, now).filter(roles).exclude(worker__in={mine.worker_id, *avoided})
    return found.order_by("waiting_since", "id").select_for_update(no_key=True, skip_locked=True)[
        :LOOKED_AT
    ]


def _pair(mine: Ticket, partner: Ticket, now: datetime, rng: random.Random) -> Dialog | None:
    """Begin a dialog of two locked tickets; None without a topic new to both, or without money."""
    student, teacher = rng.choice(list(_castings(mine, partner)))
    topic = _topic(mine.stage_id, [student.worker_id, teacher.worker_id])
    if topic is None:
        return None
    stage = Stage.objects.select_related("collection").get(pk=mine.stage_id)
    held = reservation(stage)
    with transaction.atomic():
        dialog = _begin(stage, topic, student, teacher, held, now)
        # The collection's row last: everybody who is paired needs it.
        if not budget.reserve(stage.collection_id, held):
            transaction.set_rollback(True)
            return None
    return dialog


def reservation(stage: Stage) -> int:
    """Return what both partners can earn at most by their turns, with fees, in cents."""
    parameters = parameters_of(stage.collection)
    most = most_cents(limits_of(parameters.stages()[stage.name]))
    return 2 * (most + budget.fee_cents(most, parameters.pay))


def _begin(
    stage: Stage, topic: Topic, student: Ticket, teacher: Ticket, held: int, now: datetime
) -> Dialog:
    Topic.objects.filter(pk=topic.pk).update(taken=F("taken") + 1, begun=F("begun") + 1)
    dialog = Dialog.objects.create(
        stage=stage,
        topic=topic,
        ordinal=topic.begun,
        student_ticket=student,
        teacher_ticket=teacher,
        student_id=student.worker_id,
        teacher_id=teacher.worker_id,
        began_at=now,
        moved_at=now,
        reserved_cents=held,
    )
    for ticket in (student, teacher):
        waited = max(0, int((now - ticket.waiting_since).total_seconds()))
        Ticket.objects.filter(pk=ticket.pk).update(
            state=TicketState.CHECKING, ready=False, waited_seconds=F("waited_seconds") + waited
        )
        Exposure.objects.bulk_create(
            [Exposure(worker_id=ticket.worker_id, seed_id=topic.seed_id, kind=stage.kind, at=now)],
            ignore_conflicts=True,
        )
    return dialog


def _castings(one: Ticket, other: Ticket) -> Iterator[tuple[Ticket, Ticket]]:
    """Yield (student, teacher) for every way in which both qualify."""
    for student, teacher in ((one, other), (other, one)):
        if student.can_ask and teacher.can_teach:
            yield student, teacher


def _topic(stage_id: int, workers: list[str]) -> Topic | None:
    """Return the first topic with a free place that neither worker has seen in any role, locked."""
    seen = Exposure.objects.filter(worker__in=workers).values("seed_id")
    free = Topic.objects.filter(stage=stage_id, taken__lt=F("wanted")).exclude(seed__in=seen)
    return free.order_by("id").select_for_update(no_key=True, skip_locked=True).first()
