"""A worker leaves for good: they have returned the HIT, or its time has run out."""

from datetime import datetime

from collector.models import Stage
from tasks.dialog import moves, settlement
from tasks.dialog.pairing import open_dialog
from tasks.dialog.rules import Ending
from tasks.models import LeaseState, Ticket, TicketState


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
