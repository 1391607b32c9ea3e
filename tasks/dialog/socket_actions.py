"""What a socket does in the waiting room and in a dialog, each step with its own transaction."""

import random
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from django.core import signing
from django.core.cache import cache
from django.utils import timezone

from collector.ingest.segmentation import tokens
from common.rate_limit import Limit
from tasks.dialog import moves, pairing, presence, settlement, waiting_room
from tasks.dialog.dialog_state import TicketView, view_of
from tasks.dialog.moves import OUT_OF_DATE, Move
from tasks.dialog.partner_view import page_state
from tasks.models import Dialog, LeaseState, Ticket, TicketState
from tasks.payload import shallow, typable
from tasks.people.lease_context import GONE, LEASE_SALT, LONGEST_STAY, held_lease
from tasks.work.dialog_rules import Ending, Refused, Reply

OVER = "Your time for this HIT is over, or it was returned. Open it again from the marketplace."


State = dict[str, Any]
Holder = tuple[int, str]
# Of one socket: as fast as anybody types, and not as fast as anybody can flood.
MESSAGES = Limit(at_once=40, seconds=0.5)
LONGEST_NOTE = 500
REASONS = ("rude", "nonsense", "silent", "other")


def holder_of(token: str) -> Holder:
    """Return the lease, and whose it is, that a page's token stands for. Raises Refused."""
    try:
        lease_id, worker_id = signing.loads(token, salt=LEASE_SALT, max_age=LONGEST_STAY)
    except (signing.BadSignature, ValueError, TypeError):
        raise Refused(GONE) from None
    return lease_id, worker_id


def enter(holder: Holder, *, is_counted: bool) -> tuple[int, list[int]]:
    """Let in who holds a lease, paired where somebody waits; returns the ticket, and whom to ring.

    is_counted: whether this process has them among the open sockets already. Raises Refused.
    """
    now = timezone.now()
    if not is_counted and (found := presence.returned(*holder, now)):
        ticket_id, was_away = found
        return ticket_id, _both(pairing.open_dialog(Ticket(pk=ticket_id))) if was_away else []
    lease = held_lease(*holder)
    if lease is None or not lease.session.submit_url:
        raise Refused(GONE)
    ticket = Ticket.objects.filter(lease=lease).first()
    if ticket is None or ticket.state != TicketState.DONE:
        if lease.state != LeaseState.LIVE:
            raise Refused(OVER)
        try:
            ticket = ticket or waiting_room.arrive(lease, now)
        except waiting_room.NoRoom as error:
            raise Refused(str(error)) from None
        # It has come with the lease, and its collection with it.
        ticket.stage = lease.unit.stage
    was_away = not is_counted and presence.connected(ticket.pk, now)
    dialog = _claim(ticket, now)
    if dialog is None and was_away:
        dialog = pairing.open_dialog(ticket)
    return ticket.pk, _both(dialog)


def is_at_home(view: TicketView, holder: Holder) -> bool:
    """Return whether somebody who was let in before may go on in their dialog without more ado."""
    ticket = view.ticket
    talks = ticket.state in (TicketState.CHECKING, TicketState.TALKING)
    is_theirs = (ticket.lease_id, ticket.worker_id) == tuple(holder)
    return talks and is_theirs and ticket.lease.state == LeaseState.LIVE


def warm_up() -> None:
    """Load what the first dialog of a process would wait for: the splitter into tokens."""
    tokens("Warm.", "en")


def leave(ticket_id: int, at: datetime) -> tuple[int, list[int]]:
    """Note that the last socket of this process was closed then.

    Returns at how many other processes there are some, and whom to ring.
    """
    left = presence.disconnected(ticket_id, at)
    return left or 0, _both(pairing.open_dialog(Ticket(pk=ticket_id))) if left == 0 else []


def refreshed(ticket_id: int, seen: TicketView | None = None) -> tuple[TicketView, State]:
    """Return how the ticket stands, and what its holder may see now.

    seen: how it stood before.
    """
    view = view_of(ticket_id, seen)
    return view, page_state(view, timezone.now())


def first_view(ticket_id: int, seen: TicketView | None = None) -> tuple[TicketView, State]:
    """Return the same, with what the holder had written before the page was loaded."""
    view, state = refreshed(ticket_id, seen)
    return view, {**state, "written": kept_draft(ticket_id)}


def move_of(message: dict[str, Any]) -> Move | None:
    """Return the question or answer that a message says, None for others; raises Refused."""
    kind = message.get("type")
    if kind not in ("ask", "answer"):
        return None
    said = question_of(message) if kind == "ask" else reply_of(message)
    return Move(dialog_of(message), id_of(message), said)


def after_the_last(made: moves.JudgedMove) -> list[int]:
    """Settle the dialog that a move has ended; returns the tickets whose holders should look."""
    return _settle(made.dialog.row, made.now)


def act(seen: TicketView, message: dict[str, Any]) -> list[int]:
    """Do what is no question and no answer; returns the tickets whose holders should look.

    seen: how the sender's ticket stood when it was looked at last. Raises Refused with what the
    worker should do instead.
    """
    now = timezone.now()
    if message.get("type") == "draft":
        dialog = _own(dialog_of(message), seen)
        keep_draft(seen.ticket.pk, dialog.pk, message.get("draft"))
        return []
    view = view_of(seen.ticket.pk, seen)
    ticket = view.ticket
    if message.get("type") == "finish":
        settlement.finish(ticket, now)
        return [ticket.pk]
    dialog = _own(dialog_of(message), view)
    match message.get("type"):
        case "ready":
            presence.ready(dialog.pk, ticket.pk, now)
            return _both(dialog)
        case "end":
            role = moves.role_of(dialog, ticket)
            return _settle(moves.end(dialog.pk, role, Ending.ENDED, now), now)
        case "report":
            reason, note = report_of(message)
            return _settle(moves.report(dialog.pk, ticket, reason, note, now), now)
    raise Refused(moves.OUT_OF_DATE)


def _own(dialog_id: int, view: TicketView) -> Dialog:
    """Return a dialog of the ticket's own, also one that is over. Raises Refused."""
    dialog = view.dialog(dialog_id)
    if dialog is None:
        raise Refused(moves.OUT_OF_DATE)
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
    """Find a new partner for the one who was left; returns the tickets of whom that concerns."""
    left = Ticket.objects.filter(
        pk__in=[row.student_ticket_id, row.teacher_ticket_id], state=TicketState.WAITING
    )
    for ticket in left:
        ticket.stage = row.stage
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


def read_message(text: str | None) -> dict[str, Any]:
    """Return a message, cleaned of what cannot be typed. Raises Refused."""
    try:
        message = shallow(orjson.loads(text or ""))
    except ValueError:
        message = None
    if not isinstance(message, dict):
        raise Refused("This could not be read; reload the page.")
    cleaned: dict[str, Any] = typable(message)
    return cleaned


def token_of(message: dict[str, Any]) -> str:
    """Return the token of an introduction, empty where there is none."""
    token = message.get("token")
    return token if isinstance(token, str) else ""


def id_of(message: dict[str, Any]) -> UUID:
    """Return the page's own id of a message. Raises Refused."""
    try:
        return UUID(str(message.get("id")))
    except ValueError:
        raise Refused(OUT_OF_DATE) from None


def dialog_of(message: dict[str, Any]) -> int:
    """Return the dialog that a move was made in. Raises Refused."""
    dialog = message.get("dialog")
    if type(dialog) is not int or not 0 < dialog < 2**63:
        raise Refused(OUT_OF_DATE)
    return dialog


def question_of(message: dict[str, Any]) -> str:
    """Return the question that is asked. Raises Refused."""
    text = message.get("text")
    if not isinstance(text, str):
        raise Refused(OUT_OF_DATE)
    return text


def reply_of(message: dict[str, Any]) -> Reply:
    """Return the answer that is given; whether it fits the section, the rules know."""
    start, end = message.get("start"), message.get("end")
    if not all(value is None or (type(value) is int and value >= 0) for value in (start, end)):
        raise Refused("Mark the answer in the section, or choose “No answer”.")
    return Reply(start, end, str(message.get("continuation")), str(message.get("affirmation")))


def report_of(message: dict[str, Any]) -> tuple[str, str]:
    """Return why a partner is reported, and in which words. Raises Refused."""
    reason, note = message.get("reason"), message.get("note", "")
    if reason not in REASONS:
        raise Refused("Choose what was wrong with your partner.")
    return str(reason), str(note)[:LONGEST_NOTE]
