"""What a socket does in the waiting room and in a dialog, each step with its own transaction."""

import random
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core import signing
from django.core.cache import cache
from django.utils import timezone

from collector.ingest.segmentation import tokens
from tasks.dialog import messages, moves, pairing, presence, settlement, waiting_room
from tasks.dialog.dialog_state import TicketView, view_of
from tasks.dialog.partner_view import page_state
from tasks.dialog.rules import Ending, Refused
from tasks.models import Dialog, DialogState, LeaseState, Ticket, TicketState
from tasks.pages.lease_context import held_lease
from tasks.pages.tokens import GONE, LEASE_SALT, LONGEST_STAY

OVER = "Your time for this HIT is over, or it was returned. Open it again from the marketplace."


@dataclass(frozen=True)
class Entrance:
    """A holder who has come in, and the tickets whose holders should look."""

    ticket_id: int
    concerned: list[int]


State = dict[str, Any]


@dataclass(frozen=True)
class MessageOutcome:
    """Who should look, how the ticket stands, and what its page shows; None where nothing new."""

    concerned: list[int]
    view: TicketView
    state: State | None = None


def enter(token: str) -> Entrance:
    """Let in whoever carries a lease's token, paired where somebody waits. Raises Refused."""
    try:
        lease_id, worker_id = signing.loads(token, salt=LEASE_SALT, max_age=LONGEST_STAY)
    except (signing.BadSignature, ValueError, TypeError):
        raise Refused(GONE) from None
    lease = held_lease(lease_id, worker_id)
    if lease is None or not lease.session.submit_url:
        raise Refused(GONE)
    now = timezone.now()
    ticket = Ticket.objects.filter(lease=lease).first()
    if ticket is None or ticket.state != TicketState.DONE:
        if lease.state != LeaseState.LIVE:
            raise Refused(OVER)
        try:
            ticket = waiting_room.arrive(lease, now)
        except waiting_room.NoRoom as error:
            raise Refused(str(error)) from None
    presence.connected(ticket.pk, now)
    dialog = _claim(ticket, now) or pairing.open_dialog(ticket)
    return Entrance(ticket.pk, _both(dialog))


def warm_up() -> None:
    """Load what the first dialog of a process would wait for: the splitter into tokens."""
    tokens("Warm.", "en")


def leave(ticket_id: int) -> list[int]:
    """Note a closed socket; returns the tickets whose holders should look."""
    presence.disconnected(ticket_id, timezone.now())
    return _both(pairing.open_dialog(Ticket(pk=ticket_id)))


def refreshed(ticket_id: int, seen: TicketView | None = None) -> tuple[TicketView, State]:
    """Return how the ticket stands, and what its holder may see now.

    seen: how it stood before.
    """
    view = view_of(ticket_id, seen)
    return view, page_state(view, timezone.now())


def first_view(ticket_id: int, *_: object) -> tuple[TicketView, State]:
    """Return the same, with what the holder had written before the page was loaded."""
    view, state = refreshed(ticket_id)
    return view, {**state, "written": kept_draft(ticket_id)}


def handle_message(seen: TicketView, message: dict[str, Any]) -> MessageOutcome:
    """Do what the page asks, whose ticket stood like `seen` when it was looked at last.

    Raises Refused with what the worker should do instead.
    """
    now = timezone.now()
    match message.get("type"):
        case "draft":
            dialog = _own(messages.dialog_of(message), seen)
            keep_draft(seen.ticket.pk, dialog.pk, message.get("draft"))
            return MessageOutcome([], seen)
        case "ask" | "answer":
            return _speak(seen, message, now)
    concerned = _act(view_of(seen.ticket.pk, seen), message, now)
    return MessageOutcome(concerned, *refreshed(seen.ticket.pk, seen))


def _speak(seen: TicketView, message: dict[str, Any], now: datetime) -> MessageOutcome:
    """Store a question or an answer. Raises Refused."""
    dialog_id, message_id = messages.dialog_of(message), messages.id_of(message)
    if message["type"] == "ask":
        view = moves.ask(seen, dialog_id, message_id, messages.question_of(message), now)
    else:
        view = moves.answer(seen, dialog_id, message_id, messages.reply_of(message), now)
    dialog = view.dialog(dialog_id)
    assert dialog is not None
    if dialog.row.state == DialogState.OVER:
        return MessageOutcome(_settle(dialog.row, now), *refreshed(seen.ticket.pk, view))
    # Their own other pages look too, where there are any.
    mine = [seen.ticket.pk] if view.ticket.connections > 1 else []
    return MessageOutcome([dialog.partner.pk, *mine], view, page_state(view, now))


def _act(view: TicketView, message: dict[str, Any], now: datetime) -> list[int]:
    """Do what is no question and no answer; returns the tickets whose holders should look."""
    ticket = view.ticket
    if message.get("type") == "finish":
        settlement.finish(ticket, now)
        return [ticket.pk]
    dialog = _own(messages.dialog_of(message), view)
    match message.get("type"):
        case "ready":
            presence.ready(ticket.pk, now)
            return _both(dialog)
        case "end":
            role = moves.role_of(dialog, ticket)
            return _settle(moves.end(dialog.pk, role, Ending.ENDED, now), now)
        case "report":
            reason, note = messages.report_of(message)
            return _settle(moves.report(dialog.pk, ticket, reason, note, now), now)
    raise Refused(messages.OUT_OF_DATE)


def _own(dialog_id: int, view: TicketView) -> Dialog:
    """Return a dialog of the ticket's own, also one that is over. Raises Refused."""
    dialog = view.dialog(dialog_id)
    if dialog is None:
        raise Refused(messages.OUT_OF_DATE)
    return dialog.row


def _settle(row: Dialog, now: datetime) -> list[int]:
    """Settle a dialog that is over; returns the tickets of whom that, and pairing, concerns."""
    settlement.settle(row, now)
    return [*_both(row), *_claim_again(row, now)]


def _claim(ticket: Ticket, now: datetime) -> Dialog | None:
    """Return the dialog of somebody who waits and for whom a partner is free now, else None."""
    if ticket.state != TicketState.WAITING:
        return None
    return pairing.claim(ticket, now, random.SystemRandom())


def _claim_again(row: Dialog, now: datetime) -> list[int]:
    """Find a new partner for whoever was left; returns the tickets of whom that concerns."""
    left = Ticket.objects.filter(
        pk__in=[row.student_ticket_id, row.teacher_ticket_id], state=TicketState.WAITING
    )
    return [ticket_id for ticket in left for ticket_id in _both(_claim(ticket, now))]


def _both(dialog: Dialog | None) -> list[int]:
    return [dialog.student_ticket_id, dialog.teacher_ticket_id] if dialog else []


KEEP_SECONDS = 2 * 60 * 60


def keep_draft(ticket_id: int, dialog_id: int, draft: object) -> None:
    """Keep what the holder's page has not sent yet; only that ticket's pages get it back."""
    cache.set(_key(ticket_id), {"dialog": dialog_id, "draft": draft}, KEEP_SECONDS)


def kept_draft(ticket_id: int) -> dict[str, Any] | None:
    """Return {dialog, draft} as it was kept last, None where nothing was."""
    found: dict[str, Any] | None = cache.get(_key(ticket_id))
    return found


def _key(ticket_id: int) -> str:
    return f"dialog-draft-{ticket_id}"
