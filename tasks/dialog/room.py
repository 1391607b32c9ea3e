"""What a socket does in the waiting room and in a dialog, each step with its own transaction."""

import random
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core import signing
from django.utils import timezone

from collector.ingest.tokens import tokens
from tasks.dialog import arrival, drafts, messages, pairing, presence, saying, settlement, turns
from tasks.dialog.dialog_state import Holder, Standing, standing_of
from tasks.dialog.rules import Ending, Refused
from tasks.dialog.view import seen_by
from tasks.models import Dialog, DialogState, LeaseState, Ticket, TicketState
from tasks.pages.lease_context import held_lease
from tasks.pages.tokens import GONE, LEASE_SALT, LONGEST_STAY

OVER = "Your time for this HIT is over, or it was returned. Open it again from the marketplace."


@dataclass(frozen=True)
class Entrance:
    """A holder who has come in, and the tickets whose holders should look."""

    ticket_id: int
    rings: list[int]


State = dict[str, Any]


@dataclass(frozen=True)
class Step:
    """Who should look, where the holder stands, and what they may see; None where nothing new."""

    rings: list[int]
    standing: Standing
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
            ticket = arrival.arrive(lease, now)
        except arrival.NoRoom as error:
            raise Refused(str(error)) from None
    presence.connected(ticket.pk, now)
    met = _seek(ticket, now)
    rings = [each for dialog in met for each in _both(dialog)]
    return Entrance(ticket.pk, rings or _both(pairing.open_dialog(ticket)))


def warm_up() -> None:
    """Load what the first dialog of a process would wait for: the splitter into tokens."""
    tokens("Warm.", "en")


def leave(ticket_id: int) -> list[int]:
    """Note a closed socket; returns the tickets whose holders should look."""
    presence.disconnected(ticket_id, timezone.now())
    return _both(pairing.open_dialog(Ticket(pk=ticket_id)))


def look(
    ticket_id: int, holder: Holder | None = None, seen: Standing | None = None
) -> tuple[Standing, State]:
    """Return where the holder stands, and what they may see now.

    holder, seen: what was known before of the ticket's place, and of where the holder stood.
    """
    standing = standing_of(ticket_id, holder, seen)
    return standing, seen_by(standing, timezone.now())


def look_first(ticket_id: int, *_: object) -> tuple[Standing, State]:
    """Return the same, with what the holder had written before the page was loaded."""
    standing, state = look(ticket_id)
    return standing, {**state, "written": drafts.kept(ticket_id)}


def step(seen: Standing, message: dict[str, Any]) -> Step:
    """Do what the page asks, of a holder who stood like this when they looked last.

    Raises Refused with what the worker should do instead.
    """
    if message.get("type") == "draft":
        keep(seen, message)
        return Step([], seen)
    now = timezone.now()
    ticket_id = seen.ticket.pk
    if said := saying.say(seen, message, now):
        told = said.dialogs[-1]
        # Their own other pages look too, where there are any.
        mine = [ticket_id] if seen.ticket.connections > 1 else []
        return Step([told.partner.pk, *mine], said, seen_by(said, now))
    rings = move(standing_of(ticket_id), message, now)
    return Step(rings, *look(ticket_id))


def keep(seen: Standing, message: dict[str, Any]) -> None:
    """Keep what the page has not sent yet. Raises Refused."""
    dialog = _own(messages.dialog_of(message), seen)
    drafts.keep(seen.ticket.pk, dialog.pk, message.get("draft"))


def move(standing: Standing, message: dict[str, Any], now: datetime) -> list[int]:
    """Do what the page asks; returns the tickets whose holders should look.

    Raises Refused with what the worker should do instead.
    """
    ticket = standing.ticket
    if message.get("type") == "finish":
        settlement.finish(ticket, now)
        return [ticket.pk]
    dialog = _own(messages.dialog_of(message), standing)
    if message.get("type") == "ready":
        presence.ready(ticket.pk, now)
        return _both(dialog)
    row = _speak(dialog, ticket, message, now).row
    if row.state != DialogState.OVER:
        return _both(row)
    settlement.settle(row, now)
    return [*_both(row), *_seek_again(row, now)]


def _speak(dialog: Dialog, ticket: Ticket, message: dict[str, Any], now: datetime) -> turns.Move:
    match message.get("type"):
        case "ask":
            text = messages.question_of(message)
            return turns.ask(dialog.pk, ticket, messages.id_of(message), text, now)
        case "answer":
            reply = messages.reply_of(message)
            return turns.reply(dialog.pk, ticket, messages.id_of(message), reply, now)
        case "end":
            return turns.end(dialog.pk, turns.role_of(dialog, ticket), Ending.ENDED, now)
        case "report":
            reason, note = messages.complaint_of(message)
            return turns.report(dialog.pk, ticket, reason, note, now)
    raise Refused(messages.OUT_OF_DATE)


def _own(dialog_id: int, standing: Standing) -> Dialog:
    """Return a dialog of the ticket's own, also one that is over. Raises Refused."""
    told = standing.dialog(dialog_id)
    if told is None:
        raise Refused(messages.OUT_OF_DATE)
    return told.row


def _seek(ticket: Ticket, now: datetime) -> list[Dialog]:
    """Look for a partner of somebody who waits; returns the dialogs that this began."""
    if ticket.state != TicketState.WAITING:
        return []
    return pairing.seek(ticket, now, random.SystemRandom())


def _seek_again(row: Dialog, now: datetime) -> list[int]:
    """Look for a new partner of whoever was left; returns the tickets of whom that concerns."""
    left = Ticket.objects.filter(
        pk__in=[row.student_ticket_id, row.teacher_ticket_id], state=TicketState.WAITING
    )
    met = [dialog for ticket in left for dialog in _seek(ticket, now)]
    return [ticket_id for dialog in met for ticket_id in _both(dialog)]


def _both(dialog: Dialog | None) -> list[int]:
    return [dialog.student_ticket_id, dialog.teacher_ticket_id] if dialog else []
