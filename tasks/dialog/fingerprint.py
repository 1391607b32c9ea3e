"""Tells by a mark of its rows whether a page shows what they say."""

from datetime import datetime
from typing import NamedTuple

from django.utils import timezone

from tasks.dialog import presence
from tasks.dialog.dialog_state import TicketView, last_lines
from tasks.models import Dialog, Ticket


class StateFingerprint(NamedTuple):
    """What a page would show otherwise if it changed, without the turns themselves."""

    state: str
    dialog_id: int | None = None
    dialog_state: str = ""
    moved_at: datetime | None = None
    partner_present: bool = False


Marks = dict[int, tuple[StateFingerprint, Ticket | None]]


def fingerprint_of(view: TicketView, now: datetime) -> StateFingerprint:
    """Return the mark of what the holder's page shows, to be compared with that of the rows."""
    last = view.dialogs[-1] if view.dialogs else None
    row, partner = (last.row, last.partner) if last else (None, None)
    return _mark(view.ticket, row, partner, now)


def _mark(
    ticket: Ticket, row: Dialog | None, partner: Ticket | None, now: datetime
) -> StateFingerprint:
    if row is None or partner is None:
        return StateFingerprint(str(ticket.state))
    present = presence.is_present(partner, now)
    return StateFingerprint(str(ticket.state), row.pk, str(row.state), row.moved_at, present)


def record_presence(ticket_ids: list[int]) -> Marks:
    """Note that the sockets of these tickets are open; returns the marks of their rows."""
    presence.seen(ticket_ids, timezone.now())
    return marks_of(ticket_ids)


def marks_of(ticket_ids: list[int]) -> Marks:
    """Return the marks of these tickets' rows, each with the partner's row, None without one."""
    now = timezone.now()
    lines = last_lines(ticket_ids)
    return {
        ticket.pk: (_mark(ticket, row, partner, now), partner) for ticket, row, partner in lines
    }
