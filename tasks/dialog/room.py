"""What a socket does in the waiting room and in a dialog, each step with its own transaction."""

import random
from datetime import datetime
from typing import Any
from uuid import UUID

from django.core import signing
from django.utils import timezone

from tasks.dialog import arrival, pairing, presence, settlement, turns
from tasks.dialog.doorbell import ring
from tasks.dialog.rules import Ending, Refused, Reply
from tasks.dialog.view import seen_by
from tasks.models import Dialog, DialogState, Ticket
from tasks.pages.stays import held_lease
from tasks.pages.tokens import LEASE_SALT, LONGEST_STAY

REASONS = ("rude", "nonsense", "silent", "other")


def enter(token: str) -> int | None:
    """Return the ticket of the token's lease, its holder present and paired where possible."""
    try:
        lease_id, worker_id = signing.loads(token, salt=LEASE_SALT, max_age=LONGEST_STAY)
    except (signing.BadSignature, ValueError, TypeError):
        return None
    lease = held_lease(lease_id, worker_id)
    if lease is None:
        return None
    now = timezone.now()
    try:
        ticket = arrival.arrive(lease, now)
    except arrival.NoRoom:
        return None
    presence.connected(ticket.pk, now)
    _seek(ticket, now)
    return ticket.pk


def leave(ticket_id: int) -> None:
    """Note a closed socket, and tell the partner."""
    presence.disconnected(ticket_id, timezone.now())
    _ring_partners(_ticket(ticket_id))


def sign(ticket_id: int) -> None:
    """Note that the socket is still open."""
    presence.seen([ticket_id], timezone.now())


def look(ticket_id: int) -> dict[str, Any]:
    """Return what the holder may see now."""
    return seen_by(_ticket(ticket_id), timezone.now())


def move(ticket_id: int, kind: str, message: dict[str, Any]) -> None:
    """Do what the page asks; raises Refused with what the worker should do instead."""
    ticket, now = _ticket(ticket_id), timezone.now()
    if kind == "ready":
        presence.ready(ticket.pk, now)
    elif kind == "finish":
        settlement.finish(ticket, now)
    else:
        _speak(ticket, kind, message, now)
    _ring_partners(ticket)


def _speak(ticket: Ticket, kind: str, message: dict[str, Any], now: datetime) -> None:
    dialog = pairing.open_dialog(ticket)
    if dialog is None:
        raise Refused("Your dialog is over; what you wrote was not sent.")
    if kind == "ask":
        done = turns.ask(dialog.pk, ticket, _id(message), str(message.get("text", "")), now)
    elif kind == "answer":
        done = turns.reply(dialog.pk, ticket, _id(message), _reply(message), now)
    elif kind == "end":
        done = turns.end(dialog.pk, turns.role_of(dialog, ticket), Ending.ENDED, now)
    elif kind == "report":
        reason = message.get("reason")
        if reason not in REASONS:
            raise Refused("Choose what was wrong.")
        note = str(message.get("note", ""))[:500]
        done = turns.report(dialog.pk, ticket, reason, note, now)
    else:
        raise Refused("This page is out of date; reload it.")
    if done.row.state == DialogState.OVER:
        settlement.settle(done.row, now)


def _seek(ticket: Ticket, now: datetime) -> None:
    """Look for a partner, and ring for whoever was found."""
    dialog = pairing.claim(ticket, now, random.SystemRandom())
    if dialog:
        ring([dialog.student_ticket_id, dialog.teacher_ticket_id])


def _ring_partners(ticket: Ticket) -> None:
    last = (
        Dialog.objects.filter(student_ticket=ticket) | Dialog.objects.filter(teacher_ticket=ticket)
    ).order_by("-id")
    dialog = last.first()
    if dialog:
        ring([dialog.student_ticket_id, dialog.teacher_ticket_id])


def _ticket(ticket_id: int) -> Ticket:
    return Ticket.objects.select_related("stage__collection", "lease__session__posting").get(
        pk=ticket_id
    )


def _id(message: dict[str, Any]) -> UUID:
    try:
        return UUID(str(message.get("id")))
    except ValueError:
        raise Refused("This page is out of date; reload it.") from None


def _reply(message: dict[str, Any]) -> Reply:
    start, end = message.get("start"), message.get("end")
    if not all(value is None or (isinstance(value, int) and value >= 0) for value in (start, end)):
        raise Refused("Mark the answer in the section, or choose “No answer”.")
    return Reply(start, end, str(message.get("continuation")), str(message.get("affirmation")))
