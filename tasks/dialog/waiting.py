"""How long somebody has waited, paid only while they are there, and when a wait is over."""

from datetime import datetime, timedelta
from typing import Any

from django.db.models import Exists, F, OuterRef, Q

from collector.models import Stage
from tasks.dialog.presence import is_present
from tasks.models import Exposure, Ticket, TicketState, Topic


def seconds_waited(ticket: Ticket, now: datetime) -> int:
    """Return the paid seconds of all the ticket's waits, also of the one that goes on."""
    return ticket.waited_seconds + _running(ticket, now)


def stop_clock(ticket: Ticket, now: datetime) -> None:
    """Add the wait that goes on to those that are over; changes the instance alone."""
    ticket.waited_seconds += _running(ticket, now)
    ticket.waiting_since = now


def over(stage: Stage, table: Any, now: datetime) -> list[Ticket]:
    """Return the tickets that need not wait any longer.

    Those that have waited as long as anybody is asked to, have been away for longer than a move
    may take, have no time left for a dialog, or have nothing new to talk about.
    """
    waiting = Ticket.objects.filter(stage=stage, state=TicketState.WAITING)
    topics = Topic.objects.filter(stage=stage, taken__lt=F("wanted"))
    seen = Exposure.objects.filter(worker=OuterRef(OuterRef("worker")), seed=OuterRef("seed"))
    rows = waiting.select_related("lease").annotate(
        has_topics=Exists(topics.filter(~Q(Exists(seen))))
    )
    move = timedelta(minutes=table.move_minutes)
    longest = 60 * table.wait_minutes
    return [
        ticket
        for ticket in rows
        if seconds_waited(ticket, now) >= longest
        or now - _until(ticket, now) > move
        or ticket.lease.expires_at - now < move
        or not ticket.has_topics
    ]


def _running(ticket: Ticket, now: datetime) -> int:
    if ticket.state != TicketState.WAITING:
        return 0
    return max(0, int((_until(ticket, now) - ticket.waiting_since).total_seconds()))


def _until(ticket: Ticket, now: datetime) -> datetime:
    """Return until when the holder was there: the clock stands still while they are away."""
    return now if is_present(ticket, now) else ticket.seen_at or ticket.waiting_since
