"""A worker comes to the waiting room: their lease becomes a ticket, its wait is paid for ahead."""

from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction

from collector.protocols.creation import parameters_of
from tasks.dialog.departure import depart
from tasks.dialog.earnings import longest_wait_cents
from tasks.models import Lease, LeaseState, Ticket, TicketState
from tasks.money import budget
from tasks.people.qualifications import roles_of


class NoRoom(Exception):
    """Nobody can be let in now; the message tells the worker why and what to do."""


def arrive(lease: Lease, now: datetime) -> Ticket:
    """Return the lease's ticket, made on the first call; its longest wait is reserved.

    Raises NoRoom for a worker who has neither role, who is at another ticket already, whose time
    is over, or when the budget cannot pay the wait.
    """
    found = Ticket.objects.filter(lease=lease).first()
    if found:
        return found
    if lease.state != LeaseState.LIVE:
        raise NoRoom("Your time for this HIT is over, or it was returned.")
    _free(lease, now)
    try:
        return _admit(lease, now)
    except IntegrityError:
        mine = Ticket.objects.filter(lease=lease).first()
        if mine is None:
            raise NoRoom("You have a dialog open in another window; go on there.") from None
        return mine


def _admit(lease: Lease, now: datetime) -> Ticket:
    stage = lease.unit.stage
    parameters = parameters_of(stage.collection)
    table: Any = parameters.stages()[stage.name]
    can_ask, can_teach = roles_of(lease.worker, stage.collection, table)
    if not can_ask and not can_teach:
        raise NoRoom("You have not passed the qualification of either role yet.")
    held = longest_wait_cents(table, parameters)
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
    return ticket


def _free(lease: Lease, now: datetime) -> None:
    """End the ticket of a HIT that the worker has returned, or that ran out of time."""
    earlier = Ticket.objects.filter(stage_id=lease.unit.stage_id, worker_id=lease.worker_id)
    for ticket in earlier.exclude(state=TicketState.DONE).exclude(lease__state=LeaseState.LIVE):
        depart(ticket, now)
