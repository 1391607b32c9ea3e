"""Lets two people of a test talk: they are paired, say they are there, ask and answer."""

import random
from datetime import datetime, timedelta
from typing import Any

from tasks.dialog import moves, pairing, presence
from tasks.dialog.dialog_state import view_of
from tasks.dialog.moves import Move
from tasks.dialog.tests.making import message
from tasks.models import Dialog, Payment, Ticket
from tasks.tests.making import NOW
from tasks.work.dialog_rules import Reply, Role
from tasks.work.passages import section_of

SOON = NOW + timedelta(seconds=10)


def ticket_of(dialog: Dialog, role: Role) -> Ticket:
    """Return the ticket of who has the role."""
    return dialog.student_ticket if role is Role.STUDENT else dialog.teacher_ticket


def pair(ticket: Ticket, now: datetime = SOON) -> Dialog:
    """Return the dialog of a ticket for which somebody waits; both have said they are there."""
    dialog = pairing.claim(ticket, now, random.Random(1))
    assert dialog is not None
    presence.ready(dialog.pk, dialog.student_ticket_id, now)
    assert presence.ready(dialog.pk, dialog.teacher_ticket_id, now)
    dialog.refresh_from_db()
    return dialog


def talk(dialog: Dialog, turns_number: int, now: datetime = SOON) -> None:
    """Complete so many turns; every answer is the section's first two tokens."""
    tokens = section_of(dialog.topic.seed_id).tokens
    reply = Reply(tokens[0][0], tokens[1][1], "follow_up", "yes")
    for _ in range(turns_number):
        ask(dialog, now)
        moves.make_now(view_of(dialog.teacher_ticket_id), Move(dialog.pk, message(), reply), now)


def ask(dialog: Dialog, now: datetime = SOON) -> None:
    """Let the student ask."""
    view = view_of(dialog.student_ticket_id)
    moves.make_now(view, Move(dialog.pk, message(), "What did he do next?"), now)


def stay(*tickets: Ticket, now: datetime) -> None:
    """Let people give a sign that they are there."""
    presence.seen([ticket.pk for ticket in tickets], now)


def paid(ticket: Ticket) -> dict[str, int]:
    """Return what a ticket's holder is owed, by what it is for."""
    rows = Payment.objects.filter(lease=ticket.lease).order_by("key")
    return {row.key.partition(":")[0]: row.amount_cents for row in rows}


class FirstOfTwo(random.Random):
    """Decides as a coin would that always falls on one side."""

    def choice(self, options: Any) -> Any:
        """Return the first."""
        return options[0]
