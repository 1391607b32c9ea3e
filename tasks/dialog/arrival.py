"""A worker comes to the waiting room: their lease becomes a ticket, its wait is paid for ahead."""

from datetime import datetime

from django.db import IntegrityError, transaction

from collector.creation import parameters_of
from tasks import budget
from tasks.models import Lease, Ticket, TicketState
from tasks.qualifications import is_qualified


class NoRoom(Exception):
    """Nobody can be let in now; the message tells the worker why and what to do."""


def arrive(lease: Lease, now: datetime) -> Ticket:
    """Return the lease's ticket, made on the first call; its longest wait is reserved.

    Raises NoRoom for a worker who has neither role, who waits on another ticket already, or when
    the budget cannot pay the wait.
    """
    found = Ticket.objects.filter(lease=lease).first()
    if found:
        return found
    stage = lease.unit.stage
    parameters = parameters_of(stage.collection)
    table = parameters.stages()[stage.name]
    can_ask = is_qualified(lease.worker, stage.collection, table.requires_student)  # type: ignore[attr-defined]
    can_teach = is_qualified(lease.worker, stage.collection, table.requires_teacher)  # type: ignore[attr-defined]
    if not can_ask and not can_teach:
        raise NoRoom("You have not passed the qualification of either role yet.")
    most = table.wait_minutes * table.wait_cents_per_minute  # type: ignore[attr-defined]
    held = most + (budget.fee_cents(most, parameters.pay) if most else 0)
    try:
        with transaction.atomic():
            ticket = Ticket.objects.create(
                lease=lease,
                stage=stage,
                worker_id=lease.worker_id,
                can_ask=can_ask,
                can_teach=can_teach,
                waiting_since=now,
                reserved_cents=held,
            )
            if not budget.reserve(stage.collection_id, held):
                raise NoRoom("The budget of this collection is used up; return this HIT.")
    except IntegrityError:
        mine = Ticket.objects.filter(lease=lease).first()
        if mine is None:
            raise NoRoom("You have a dialog open in another window; go on there.") from None
        return mine
    return ticket


def overdue(stage_id: int, longest_minutes: int, now: datetime) -> list[Ticket]:
    """Return the tickets that have waited as long as anybody is asked to."""
    waiting = Ticket.objects.filter(stage=stage_id, state=TicketState.WAITING)
    return [
        ticket
        for ticket in waiting.select_related("stage__collection", "lease__session__posting")
        if ticket.waited_seconds + (now - ticket.waiting_since).total_seconds()
        >= 60 * longest_minutes
    ]
