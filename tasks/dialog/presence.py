"""Who is there: told by sockets that open and close, never by the clock of a page."""

from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import F, Q

from collector.creation import parameters_of
from collector.models import Stage
from tasks.dialog import turns
from tasks.dialog.rules import Ending, Role
from tasks.models import Dialog, DialogState, Ticket, TicketState

# Open sockets are noted several times within this; see `seen`.
SILENCE = timedelta(seconds=90)


def connected(ticket_id: int, now: datetime) -> None:
    """Count one more open socket of the ticket's holder."""
    Ticket.objects.filter(pk=ticket_id).update(connections=F("connections") + 1, seen_at=now)


def seen(ticket_ids: list[int], now: datetime) -> None:
    """Note that the sockets of these tickets still answer the server's ping."""
    Ticket.objects.filter(pk__in=ticket_ids).update(seen_at=now)


def disconnected(ticket_id: int, now: datetime) -> None:
    """Count one open socket less; the time of grace begins."""
    Ticket.objects.filter(pk=ticket_id, connections__gt=0).update(
        connections=F("connections") - 1, seen_at=now
    )


def ready(ticket_id: int, now: datetime) -> bool:
    """Note that the holder says "I am here"; returns whether that began the dialog."""
    with transaction.atomic():
        Ticket.objects.filter(pk=ticket_id, state=TicketState.CHECKING).update(ready=True)
        holds = Q(student_ticket=ticket_id) | Q(teacher_ticket=ticket_id)
        dialog = (
            Dialog.objects.select_for_update(of=("self",), no_key=True)
            .filter(holds, state=DialogState.CHECKING)
            .first()
        )
        if dialog is None:
            return False
        both = Ticket.objects.filter(
            pk__in=[dialog.student_ticket_id, dialog.teacher_ticket_id], ready=True
        )
        if both.count() < 2:
            return False
        both.update(state=TicketState.TALKING)
        Dialog.objects.filter(pk=dialog.pk).update(state=DialogState.TALKING, moved_at=now)
    return True


def end_absent(stage: Stage, now: datetime) -> list[Dialog]:
    """End the dialogs of a stage whose partner is not there, or does not move; returns them.

    A cut has its time of grace, a move its own, the check whether both are there a short one.
    """
    table = parameters_of(stage.collection).stages()[stage.name]
    ended = []
    going = Dialog.objects.filter(stage=stage).exclude(state=DialogState.OVER)
    for dialog in going.select_related("student_ticket", "teacher_ticket"):
        role = _absent(dialog, table, now)
        if role:
            ended.append(turns.end(dialog.pk, role, Ending.LEFT, now).row)
    return ended


def _absent(dialog: Dialog, table: Any, now: datetime) -> Role | None:
    """Return who is to blame that the dialog cannot go on, None while it can."""
    tickets = {Role.STUDENT: dialog.student_ticket, Role.TEACHER: dialog.teacher_ticket}
    grace = timedelta(seconds=table.grace_seconds)
    for role, ticket in tickets.items():
        # A socket that nobody has heard of for long belonged to a process that died.
        longest = max(grace, SILENCE) if ticket.connections else grace
        if ticket.seen_at is None or now - ticket.seen_at > longest:
            return role
    if dialog.state == DialogState.CHECKING:
        late = now - dialog.began_at > timedelta(seconds=table.ready_seconds)
        return next((role for role, ticket in tickets.items() if late and not ticket.ready), None)
    thinking = timedelta(minutes=table.move_minutes)
    return turns.state_of(dialog).to_move if now - dialog.moved_at > thinking else None
