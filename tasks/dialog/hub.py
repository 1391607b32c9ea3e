"""The open sockets of dialogs in this process, and the state that each was sent last.

A move is sent to both partners as soon as it is stored, from memory if they are connected to this
process. After any other event a connection reads its rows again, because the rows are the truth.
"""

import asyncio
import logging
import secrets
import time
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any, NamedTuple, Protocol
from weakref import WeakKeyDictionary

from django.db import DatabaseError
from django.utils import timezone

from collector.serving.metrics import relayed
from tasks.dialog import moves, presence, socket_actions
from tasks.dialog.database_threads import GroupCommit, in_thread
from tasks.dialog.dialog_state import TicketView, last_lines, view_of
from tasks.dialog.moves import JudgedMove, Move, StoredMove
from tasks.dialog.notifier import Notifier
from tasks.dialog.partner_view import change_of, page_state
from tasks.dialog.socket_actions import Holder, State
from tasks.models import Dialog, Ticket, TicketState

log = logging.getLogger(__name__)
# A worker who is back within this time was not away: a page reloaded, or a connection was lost.
AWAY_SECONDS = 2.0
# How often open sockets are recorded, and rows are checked for lost notifications.
HEARTBEAT_SECONDS = 20
# How often rows are checked while notifications of other processes do not arrive.
POLL_SECONDS = 2.0


class StateFingerprint(NamedTuple):
    """The parts of the rows that change what a socket shows, without the turns themselves."""

    state: str
    dialog_id: int | None = None
    dialog_state: str = ""
    moved_at: datetime | None = None
    partner_present: bool = False


Marks = dict[int, tuple[StateFingerprint, Ticket | None]]


def fingerprint_of(view: TicketView, now: datetime) -> StateFingerprint:
    """Return the fingerprint of what the holder's sockets show, to compare with the rows'."""
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
    """Record that the sockets of these tickets are open; return the fingerprints of their rows."""
    presence.seen(ticket_ids, timezone.now())
    return marks_of(ticket_ids)


def marks_of(ticket_ids: list[int]) -> Marks:
    """Return the fingerprints of these tickets' rows, each with the partner's row or None."""
    now = timezone.now()
    lines = last_lines(ticket_ids)
    return {
        ticket.pk: (_mark(ticket, row, partner, now), partner) for ticket, row, partner in lines
    }


class Socket(Protocol):
    """An open socket."""

    def send(self, message: dict[str, Any]) -> None:
        """Send a message to the page; messages arrive in the order of the calls."""

    def reconnect(self) -> None:
        """Close the connection; the page opens another one by itself."""


class Connection:
    """The holder of a lease in this process, with all their open sockets.

    `view` is what `sockets` show; None before the first read of the rows. `changes` counts the
    events that a read which is under way may miss. `known` is the number of these events that are
    in `view`. `is_counted`: whether the ticket's row counts this process.
    """

    def __init__(self, holder: Holder) -> None:
        self.holder = holder
        self.ticket_id = 0
        self.sockets: set[Socket] = set()
        # Open sockets that were not sent a state yet.
        self.arriving: set[Socket] = set()
        self.view: TicketView | None = None
        self.mark: StateFingerprint | None = None
        self.changes = self.known = 0
        self.is_counted = False
        self.looking: asyncio.Task[None] | None = None
        self.lock = asyncio.Lock()
        self.left_at: datetime | None = None
        self.leaving: asyncio.TimerHandle | None = None

    def show(self, view: TicketView, state: State) -> None:
        """Send all sockets a whole state."""
        self.remember(view)
        for socket in self.sockets:
            socket.send({"type": "state", "state": state})

    def remember(self, view: TicketView) -> None:
        """Remember what the sockets show."""
        self.view, self.mark = view, fingerprint_of(view, timezone.now())

    def note_partner(self, partner: Ticket) -> None:
        """Remember the latest time at which the partner was present."""
        if self.view and partner.connections and partner.seen_at:
            last = self.view.dialogs[-1]
            seen_at = max(partner.seen_at, last.partner.seen_at or partner.seen_at)
            self.view = self.view.after(last.with_partner_seen(seen_at))

    def cancel_leaving(self) -> None:
        """Cancel the timer that would record the holder as away."""
        self.left_at = None
        if self.leaving:
            self.leaving.cancel()
            self.leaving = None


class Hub:
    """The connections of one process, by lease and by ticket; used only in its loop's thread."""

    def __init__(self) -> None:
        self.connections: dict[int, Connection] = {}
        self.by_ticket: dict[int, Connection] = {}
        self.commits: GroupCommit[JudgedMove] = GroupCommit(moves.store)
        self.notifier = Notifier(self.notify_here, self.receive, self.meet, self.catch_up)
        self._tasks: set[asyncio.Task[None]] = set()
        self._heart: asyncio.Task[None] | None = None

    async def enter(self, socket: Socket, holder: Holder, *, again: bool = False) -> Connection:
        """Add a socket and send it the state of its holder's ticket; raises Refused.

        again: whether this socket was added before, and only lost its connection.
        """
        connection = self.connections.setdefault(holder[0], Connection(holder))
        connection.arriving.add(socket)
        connection.cancel_leaving()
        self._beat()
        try:
            async with connection.lock:
                await self._enter(socket, connection, holder, again)
        except BaseException:
            self.leave(socket, connection)
            raise
        return connection

    async def _enter(
        self, socket: Socket, connection: Connection, holder: Holder, again: bool
    ) -> None:
        read = socket_actions.refreshed if again else socket_actions.first_view
        if connection.view and connection.is_counted:
            # The connection was lost for a moment, or the holder opened one more socket.
            if again and self._has_all(connection, connection.view):
                found = connection.view, page_state(connection.view, timezone.now())
            else:
                found = await self._read(connection, read)
            if socket_actions.is_at_home(found[0], holder):
                self._let_in(socket, connection, *found)
                return
        connection.ticket_id, concerned = await in_thread(
            socket_actions.enter, holder, is_counted=connection.is_counted
        )
        connection.holder, connection.is_counted = holder, True
        self.by_ticket[connection.ticket_id] = connection
        view, state = await self._read(connection, read)
        self._let_in(socket, connection, view, state)
        last = view.dialogs[-1] if view.dialogs else None
        shown = [last.partner.pk, last.row.pk, *last.state.place] if last else None
        self.notifier.report_connection(connection.ticket_id, True, view.ticket.connections, shown)
        self.notify_here(each for each in concerned if each != connection.ticket_id)
        self.notifier.notify(concerned)

    def _has_all(self, connection: Connection, view: TicketView) -> bool:
        """Return whether a view can be sent without reading the rows, because it equals them.

        That is so for a dialog that goes on: everything that happens in it is notified.
        """
        goes_on = bool(view.dialogs and view.dialogs[-1].section)
        is_known = connection.known == connection.changes and connection.looking is None
        return goes_on and is_known and self.notifier.is_connected

    def _let_in(
        self, socket: Socket, connection: Connection, view: TicketView, state: State
    ) -> None:
        """Send a socket its first state, and the other sockets too, which may show an older one."""
        connection.show(view, {name: state[name] for name in state if name != "written"})
        connection.arriving.discard(socket)
        connection.sockets.add(socket)
        socket.send({"type": "state", "state": state})

    def leave(self, socket: Socket, connection: Connection) -> None:
        """Remove a closed socket; a little after the last one, its holder is recorded as away."""
        connection.sockets.discard(socket)
        connection.arriving.discard(socket)
        if (
            connection.sockets
            or connection.arriving
            or self.connections.get(connection.holder[0]) is not connection
        ):
            return
        if not connection.is_counted:
            del self.connections[connection.holder[0]]
            return
        connection.left_at = timezone.now()
        loop = asyncio.get_running_loop()
        connection.leaving = loop.call_later(AWAY_SECONDS, lambda: self.begin(self.go(connection)))

    async def go(self, connection: Connection) -> None:
        """Record that the holder of a connection is away, and notify the partner."""
        if connection.left_at is None:
            return
        at = connection.left_at
        connection.cancel_leaving()
        del self.connections[connection.holder[0]]
        del self.by_ticket[connection.ticket_id]
        number, concerned = await in_thread(socket_actions.leave, connection.ticket_id, at)
        self.notifier.report_connection(
            connection.ticket_id, connection.ticket_id in self.by_ticket, number
        )
        self.notify(concerned)

    async def make(
        self, socket: Socket, connection: Connection, move: Move, message_id: object
    ) -> None:
        """Store a move, confirm it to its sender, and send it to both partners; raises Refused."""
        assert connection.view is not None
        now, began = timezone.now(), time.perf_counter()
        judged = await moves.make(connection.view, move, now, self.commits.add, self._read_again)
        if judged.dialog.state.ending:
            concerned = (
                await in_thread(socket_actions.after_the_last, judged) if judged.is_new else []
            )
            socket.send({"type": "taken", "id": message_id})
            self.notify([connection.ticket_id, *concerned])
            relayed.observe(time.perf_counter() - began)
            return
        change = self._follow(connection, judged.stored)
        socket.send({"type": "taken", "id": message_id, **({"change": change} if change else {})})
        for other in connection.sockets - {socket}:
            if change:
                other.send({"type": "change", "change": change})
        partner, stored = judged.dialog.partner, judged.stored
        self._show_move(partner.pk, stored)
        if elsewhere := self.notifier.elsewhere([partner.pk, judged.view.ticket.pk]):
            self.notifier.send_news(elsewhere, stored.as_json())
        relayed.observe(time.perf_counter() - began)

    @staticmethod
    async def _read_again(view: TicketView) -> TicketView:
        return await in_thread(view_of, view.ticket.pk, view)

    def receive(self, ticket_ids: list[int], stored: Any) -> None:
        """Send the sockets of these tickets a move that was stored in another process."""
        move = StoredMove.from_json(stored)
        for ticket_id in ticket_ids:
            self._show_move(ticket_id, move)

    def meet(self, ticket_id: int, shown: Any) -> None:
        """Notify a ticket whose socket connected to another process while a move was on its way.

        shown: the partner's ticket, the dialog, and the place in it that the socket was sent.
        """
        partner, *there = shown
        connection = self.by_ticket.get(partner)
        last = (
            connection.view.dialogs[-1]
            if connection and connection.view and connection.view.dialogs
            else None
        )
        if last and [last.row.pk, *last.state.place] != there:
            self.notifier.notify([ticket_id])

    def _show_move(self, ticket_id: int, stored: StoredMove) -> None:
        connection = self.by_ticket.get(ticket_id)
        if connection and (change := self._follow(connection, stored)):
            for socket in connection.sockets:
                socket.send({"type": "change", "change": change})

    def _follow(self, connection: Connection, stored: StoredMove) -> dict[str, Any] | None:
        """Return what a stored move changes for a connection's sockets; None if nothing is sent.

        If the view does not suffice for that, the connection reads its rows.
        """
        seen = None if connection.looking else connection.view
        view = moves.follow(seen, stored) if seen else None
        if view is None:
            self.look(connection)
            return None
        if view is connection.view:
            return None
        connection.changes, connection.known = connection.changes + 1, connection.known + 1
        connection.remember(view)
        return change_of(view, stored.now)

    async def act(self, socket: Socket, connection: Connection, message: dict[str, Any]) -> None:
        """Handle a message that is neither a question nor an answer; raises Refused."""
        concerned = await in_thread(socket_actions.act, connection.view, message)
        if "id" in message:
            socket.send({"type": "taken", "id": message["id"]})
        if message.get("type") != "draft":
            self.notify([connection.ticket_id, *concerned])

    def notify(self, ticket_ids: Iterable[int]) -> None:
        """Make the connections of these tickets read their rows, here and in other processes."""
        wanted = list(dict.fromkeys(ticket_ids))
        self.notify_here(wanted)
        self.notifier.notify(wanted)

    def notify_here(self, ticket_ids: Iterable[int]) -> None:
        """Make the connections of these tickets in this process read their rows."""
        for ticket_id in ticket_ids:
            if connection := self.by_ticket.get(ticket_id):
                self.look(connection)

    def look(self, connection: Connection) -> None:
        """Read a connection's rows, and send their state to all its sockets."""
        connection.changes += 1
        if connection.sockets and connection.looking is None:
            connection.looking = self.begin(self._look(connection))

    async def _look(self, connection: Connection) -> None:
        try:
            found = await self._read(connection, socket_actions.refreshed)
        except DatabaseError:
            for socket in connection.sockets:
                socket.reconnect()
            raise
        finally:
            connection.looking = None
        connection.show(*found)

    async def _read(
        self, connection: Connection, read: Callable[..., tuple[TicketView, State]]
    ) -> tuple[TicketView, State]:
        """Read a connection's rows, and read them again if something happened meanwhile."""
        while True:
            before = connection.changes
            found = await in_thread(read, connection.ticket_id, connection.view)
            if connection.changes == before:
                connection.known = before
                return found

    def begin(self, work: Any) -> "asyncio.Task[None]":
        """Run work in a task of its own; an outage of the database is logged, not raised."""
        task: asyncio.Task[None] = asyncio.create_task(self._guarded(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _guarded(self, work: Any) -> None:
        try:
            await work
        except DatabaseError as error:
            # Pages that reconnect, and the next heartbeat, repair it.
            log.warning("The database does not answer a dialog: %r", error)

    def _beat(self) -> None:
        if self._heart is None or self._heart.done():
            self._heart = asyncio.create_task(self._keep_beating())
            self.notifier.listen()

    async def _keep_beating(self) -> None:
        while True:
            until = time.monotonic() + HEARTBEAT_SECONDS * (0.75 + secrets.randbelow(50) / 100)
            while time.monotonic() < until:
                await asyncio.sleep(POLL_SECONDS)
                if not self.notifier.is_connected:
                    await self._look_for_missed(marks_of)
            await self._look_for_missed(record_presence)

    def catch_up(self) -> None:
        """Check the rows for changes whose notifications may have been lost."""
        for connection in self.connections.values():
            connection.changes += not connection.sockets
        self.begin(self._look_for_missed(marks_of))

    async def _look_for_missed(self, read: Callable[[list[int]], Marks]) -> None:
        """Make connections read their rows if these differ from what their sockets show."""
        present = [
            connection.ticket_id for connection in self.by_ticket.values() if connection.sockets
        ]
        if not present:
            return
        try:
            marks = await in_thread(read, present)
        except DatabaseError as error:
            log.warning("Sockets could not give a sign: %r", error)
            return
        for ticket_id, (mark, partner) in marks.items():
            connection = self.by_ticket.get(ticket_id)
            # The pay for waiting grows without any event.
            if connection and (mark != connection.mark or mark.state == TicketState.WAITING):
                self.look(connection)
            elif connection and partner:
                connection.note_partner(partner)


_hubs: "WeakKeyDictionary[asyncio.AbstractEventLoop, Hub]" = WeakKeyDictionary()


def hub_here() -> Hub:
    """Return the running loop's hub, made on the first call."""
    loop = asyncio.get_running_loop()
    if loop not in _hubs:
        _hubs[loop] = Hub()
    return _hubs[loop]


def notify(ticket_ids: Iterable[int]) -> None:
    """Make the connections of these tickets read their rows; for jobs, after the commit."""
    wanted = list(ticket_ids)
    serving = [(loop, hub) for loop, hub in list(_hubs.items()) if loop.is_running()]
    for loop, hub in serving:
        loop.call_soon_threadsafe(hub.notify, wanted)
    if not serving:
        Notifier.notify_once(wanted)
