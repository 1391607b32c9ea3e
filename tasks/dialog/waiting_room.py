"""The waiting room: a lease becomes a ticket, until its holder leaves for good."""

from datetime import datetime

from django.db import IntegrityError, transaction

from collector.models import Stage
from collector.protocols.creation import parameters_of
from tasks.dialog import moves, settlement
from tasks.dialog.dialog_state import dialog_table
from tasks.dialog.pairing import open_dialog
from tasks.dialog.settlement import longest_wait_cents
from tasks.ledger import budget
from tasks.models import Lease, LeaseState, Ticket, TicketState
from tasks.people.qualifications import roles_of
from tasks.work.dialog_rules import Ending


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
        stage = lease.unit.stage
        parameters = parameters_of(stage.collection)
        table = dialog_table(stage)
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
    except IntegrityError:
        mine = Ticket.objects.filter(lease=lease).first()
        if mine is None:
            raise NoRoom("You have a dialog open in another window; go on there.") from None
        return mine


def _free(lease: Lease, now: datetime) -> None:
    """End the ticket of a HIT that the worker has returned, or that ran out of time."""
    earlier = Ticket.objects.filter(stage_id=lease.unit.stage_id, worker_id=lease.worker_id)
    for ticket in earlier.exclude(state=TicketState.DONE).exclude(lease__state=LeaseState.LIVE):
        depart(ticket, now)


def depart(ticket: Ticket, now: datetime) -> list[int]:
    """End a ticket with the dialog it is in; returns the tickets of whom that concerns."""
    dialog = open_dialog(ticket)
    if dialog is None:
        settlement.finish(ticket, now)
        return [ticket.pk]
    role = moves.role_of(dialog, ticket)
    settlement.settle(moves.end(dialog.pk, role, Ending.LEFT, now), now)
    return [dialog.student_ticket_id, dialog.teacher_ticket_id]


def end_departed(stage: Stage, now: datetime) -> list[int]:
    """End the tickets whose leases are over; returns the tickets of whom that concerns."""
    gone = Ticket.objects.filter(stage=stage).exclude(state=TicketState.DONE)
    departed = gone.exclude(lease__state=LeaseState.LIVE)
    return [each for ticket in departed for each in depart(ticket, now)]
