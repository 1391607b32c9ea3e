"""Notes that the sockets of one loop are open; lets a page look that missed a change."""

import asyncio
import logging
import secrets
import time
from collections.abc import Callable
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from django.db import DatabaseError
from django.utils import timezone

from tasks.dialog import presence
from tasks.dialog.dialog_state import TicketView, last_lines
from tasks.dialog.notifier import is_shaky
from tasks.models import Dialog, Ticket, TicketState

log = logging.getLogger(__name__)
# How often the server notes that its sockets are still there, and looks whether a notice was lost.
HEARTBEAT_SECONDS = 20
# How often it looks while notices may be lost.
POLL_SECONDS = 2.0


class Socket(Protocol):
    """An open socket, and the mark of what it was sent last."""

    ticket_id: int | None
    mark: "StateFingerprint | None"

    async def miss(self) -> None:
        """Look at the rows: something has changed since."""


class StateFingerprint(NamedTuple):
    """What a page would show otherwise if it changed, without the turns themselves."""

    state: str
    dialog_id: int | None = None
    dialog_state: str = ""
    moved_at: datetime | None = None
    partner_present: bool = False


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


class Heartbeats:
    """The open sockets of one loop."""

    def __init__(self, in_thread: Callable[..., Any]) -> None:
        self.sockets: set[Socket] = set()
        self.in_thread = in_thread
        self.task: asyncio.Task[None] | None = None

    def begin(self, socket: Socket) -> None:
        """Give signs for a socket from now on."""
        self.sockets.add(socket)
        if self.task is None or self.task.done():
            self.task = asyncio.create_task(self._give())

    def end(self, socket: Socket) -> None:
        """Give no more signs for a socket that is closed."""
        self.sockets.discard(socket)

    async def _give(self) -> None:
        while self.sockets:
            await self._pause()
            try:
                await self._give_once()
            except DatabaseError as error:
                log.warning("Sockets could not give a sign: %r", error)

    async def _pause(self) -> None:
        """Wait until it is time, or notices may have been lost."""
        until = time.monotonic() + HEARTBEAT_SECONDS * (0.75 + secrets.randbelow(50) / 100)
        while time.monotonic() < until:
            await asyncio.sleep(POLL_SECONDS)
            if is_shaky():
                return

    async def _give_once(self) -> None:
        holders = {socket.ticket_id for socket in self.sockets if socket.ticket_id}
        marks = await self.in_thread(record_presence, list(holders))
        for socket in list(self.sockets):
            found = marks.get(socket.ticket_id)
            # What a wait has earned grows by itself.
            if found and (found != socket.mark or found.state == TicketState.WAITING):
                await socket.miss()


def record_presence(ticket_ids: list[int]) -> dict[int, StateFingerprint]:
    """Note that the sockets of these tickets are open; returns the marks of their rows."""
    now = timezone.now()
    presence.seen(ticket_ids, now)
    return {line[0].pk: _mark(*line, now) for line in last_lines(ticket_ids)}
