"""Who is at the pages of dialogs in this process, and what each of them was shown last.

A move is shown to both partners as soon as it is stored, from memory where they are here. Whatever
else happens makes a page look at the rows, which are the truth.
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
from tasks.dialog.notifier import Bell
from tasks.dialog.partner_view import change_of, page_state
from tasks.dialog.socket_actions import Holder, State
from tasks.models import Dialog, Ticket, TicketState

log = logging.getLogger(__name__)
# Whoever is back so soon has not been away: a page that reloads, a line that was cut.
AWAY_SECONDS = 2.0
# How often it is noted that pages are still open, and looked whether a notice was lost.
HEARTBEAT_SECONDS = 20
# How often it is looked while notices of other processes are lost.
POLL_SECONDS = 2.0


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


class Page(Protocol):
    """An open page."""

    def tell(self, message: dict[str, Any]) -> None:
        """Send a message to the page, in the order in which it is told them."""

    def come_back(self) -> None:
        """Close the page's socket; it opens another one by itself."""


class Seat:
    """The holder of a lease as this process knows them, with all their open pages.

    `view` is what `pages` show; None before the first look. `changes` counts what happened that a
    look which had begun before may have missed, `known` how much of it `view` has. `is_counted`
    tells whether their row counts this process.
    """

    def __init__(self, holder: Holder) -> None:
        self.holder = holder
        self.ticket_id = 0
        self.pages: set[Page] = set()
        # Opened, and not shown anything yet.
        self.coming: set[Page] = set()
        self.view: TicketView | None = None
        self.mark: StateFingerprint | None = None
        self.changes = self.known = 0
        self.is_counted = False
        self.looking: asyncio.Task[None] | None = None
        self.lock = asyncio.Lock()
        self.left_at: datetime | None = None
        self.leaving: asyncio.TimerHandle | None = None

    def show(self, view: TicketView, state: State) -> None:
        """Show all pages a whole state."""
        self.remember(view)
        for page in self.pages:
            page.tell({"type": "state", "state": state})

    def remember(self, view: TicketView) -> None:
        """Keep what pages show."""
        self.view, self.mark = view, fingerprint_of(view, timezone.now())

    def note(self, partner: Ticket) -> None:
        """Keep the last sign of being there that the partner has given."""
        if self.view and partner.connections and partner.seen_at:
            last = self.view.dialogs[-1]
            seen_at = max(partner.seen_at, last.partner.seen_at or partner.seen_at)
            self.view = self.view.after(last.with_partner_seen(seen_at))

    def stay(self) -> None:
        """Let nobody note that the holder is away."""
        self.left_at = None
        if self.leaving:
            self.leaving.cancel()
            self.leaving = None


class Hub:
    """The seats of one process, by lease and by ticket; used in its loop's thread alone."""

    def __init__(self) -> None:
        self.seats: dict[int, Seat] = {}
        self.by_ticket: dict[int, Seat] = {}
        self.commits: GroupCommit[JudgedMove] = GroupCommit(moves.store)
        self.bell = Bell(self.ring_here, self.be_told, self.meet, self.catch_up)
        self._tasks: set[asyncio.Task[None]] = set()
        self._heart: asyncio.Task[None] | None = None

    async def enter(self, page: Page, holder: Holder, *, again: bool = False) -> Seat:
        """Let a page in and show it how its holder's ticket stands; raises Refused.

        again: whether this page was let in before, and was only cut off.
        """
        seat = self.seats.setdefault(holder[0], Seat(holder))
        seat.coming.add(page)
        seat.stay()
        self._beat()
        try:
            async with seat.lock:
                await self._enter(page, seat, holder, again)
        except BaseException:
            self.leave(page, seat)
            raise
        return seat

    async def _enter(self, page: Page, seat: Seat, holder: Holder, again: bool) -> None:
        read = socket_actions.refreshed if again else socket_actions.first_view
        if seat.view and seat.is_counted:
            # Cut off for a moment, or one more page of theirs.
            if again and self._has_all(seat, seat.view):
                found = seat.view, page_state(seat.view, timezone.now())
            else:
                found = await self._read(seat, read)
            if socket_actions.is_at_home(found[0], holder):
                self._let_in(page, seat, *found)
                return
        seat.ticket_id, concerned = await in_thread(
            socket_actions.enter, holder, is_counted=seat.is_counted
        )
        seat.holder, seat.is_counted = holder, True
        self.by_ticket[seat.ticket_id] = seat
        view, state = await self._read(seat, read)
        self._let_in(page, seat, view, state)
        last = view.dialogs[-1] if view.dialogs else None
        shown = [last.partner.pk, last.row.pk, *last.state.place] if last else None
        self.bell.say_where(seat.ticket_id, True, view.ticket.connections, shown)
        self.ring_here(each for each in concerned if each != seat.ticket_id)
        self.bell.ring(concerned)

    def _has_all(self, seat: Seat, view: TicketView) -> bool:
        """Return whether a seat's view is what its rows say: all that happens in a dialog is rung.

        What can be shown of it without a look is a dialog that goes on.
        """
        goes_on = bool(view.dialogs and view.dialogs[-1].section)
        is_known = seat.known == seat.changes and seat.looking is None
        return goes_on and is_known and self.bell.is_heard

    def _let_in(self, page: Page, seat: Seat, view: TicketView, state: State) -> None:
        """Show a page its first state; those that were here before may show less than that."""
        seat.show(view, {name: state[name] for name in state if name != "written"})
        seat.coming.discard(page)
        seat.pages.add(page)
        page.tell({"type": "state", "state": state})

    def leave(self, page: Page, seat: Seat) -> None:
        """Note that a page is closed; a little after the last, its holder is away."""
        seat.pages.discard(page)
        seat.coming.discard(page)
        if seat.pages or seat.coming or self.seats.get(seat.holder[0]) is not seat:
            return
        if not seat.is_counted:
            del self.seats[seat.holder[0]]
            return
        seat.left_at = timezone.now()
        loop = asyncio.get_running_loop()
        seat.leaving = loop.call_later(AWAY_SECONDS, lambda: self.begin(self.go(seat)))

    async def go(self, seat: Seat) -> None:
        """Note that nobody is at a seat any more, and tell the partner."""
        if seat.left_at is None:
            return
        at = seat.left_at
        seat.stay()
        del self.seats[seat.holder[0]]
        del self.by_ticket[seat.ticket_id]
        number, concerned = await in_thread(socket_actions.leave, seat.ticket_id, at)
        self.bell.say_where(seat.ticket_id, seat.ticket_id in self.by_ticket, number)
        self.ring(concerned)

    async def make(self, page: Page, seat: Seat, move: Move, message_id: object) -> None:
        """Store a move, tell its sender that it is stored, and show it to both; raises Refused."""
        assert seat.view is not None
        now, began = timezone.now(), time.perf_counter()
        made = await moves.make(seat.view, move, now, self.commits.add, self._read_again)
        if made.dialog.state.ending:
            concerned = await in_thread(socket_actions.after_the_last, made) if made.is_new else []
            page.tell({"type": "taken", "id": message_id})
            self.ring([seat.ticket_id, *concerned])
            relayed.observe(time.perf_counter() - began)
            return
        change = self._follow(seat, made.stored)
        page.tell({"type": "taken", "id": message_id, **({"change": change} if change else {})})
        for other in seat.pages - {page}:
            if change:
                other.tell({"type": "change", "change": change})
        self._tell_partner(made)
        relayed.observe(time.perf_counter() - began)

    @staticmethod
    async def _read_again(view: TicketView) -> TicketView:
        return await in_thread(view_of, view.ticket.pk, view)

    def _tell_partner(self, made: JudgedMove) -> None:
        partner, stored = made.dialog.partner, made.stored
        self._tell(partner.pk, stored)
        if elsewhere := self.bell.elsewhere([partner.pk, made.view.ticket.pk]):
            self.bell.tell(elsewhere, stored.as_json())

    def be_told(self, ticket_ids: list[int], stored: Any) -> None:
        """Show the pages of these tickets a move that was stored in another process."""
        move = StoredMove.from_json(stored)
        for ticket_id in ticket_ids:
            self._tell(ticket_id, move)

    def meet(self, ticket_id: int, shown: Any) -> None:
        """Let a ticket's pages look that came to another process while a move was on its way.

        shown: the partner, the dialog, and how far it had come.
        """
        partner, *there = shown
        seat = self.by_ticket.get(partner)
        last = seat.view.dialogs[-1] if seat and seat.view and seat.view.dialogs else None
        if last and [last.row.pk, *last.state.place] != there:
            self.bell.ring([ticket_id])

    def _tell(self, ticket_id: int, made: StoredMove) -> None:
        seat = self.by_ticket.get(ticket_id)
        if seat and (change := self._follow(seat, made)):
            for page in seat.pages:
                page.tell({"type": "change", "change": change})

    def _follow(self, seat: Seat, made: StoredMove) -> dict[str, Any] | None:
        """Return what a stored move changes for the pages of a seat; None where they look."""
        view = moves.follow(seat.view, made) if seat.view and not seat.looking else None
        if view is None:
            self.look(seat)
            return None
        if view is seat.view:
            return None
        seat.changes, seat.known = seat.changes + 1, seat.known + 1
        seat.remember(view)
        return change_of(view, made.now)

    async def act(self, page: Page, seat: Seat, message: dict[str, Any]) -> None:
        """Do what is no question and no answer; raises Refused."""
        concerned = await in_thread(socket_actions.act, seat.view, message)
        if "id" in message:
            page.tell({"type": "taken", "id": message["id"]})
        if message.get("type") != "draft":
            self.ring([seat.ticket_id, *concerned])

    def ring(self, ticket_ids: Iterable[int]) -> None:
        """Let all pages of these tickets look at the rows, here and in other processes."""
        wanted = list(dict.fromkeys(ticket_ids))
        self.ring_here(wanted)
        self.bell.ring(wanted)

    def ring_here(self, ticket_ids: Iterable[int]) -> None:
        """Let the pages of these tickets look at the rows."""
        for ticket_id in ticket_ids:
            if seat := self.by_ticket.get(ticket_id):
                self.look(seat)

    def look(self, seat: Seat) -> None:
        """Show all pages of a seat what its rows say now."""
        seat.changes += 1
        if seat.pages and seat.looking is None:
            seat.looking = self.begin(self._look(seat))

    async def _look(self, seat: Seat) -> None:
        try:
            found = await self._read(seat, socket_actions.refreshed)
        except DatabaseError:
            for page in seat.pages:
                page.come_back()
            raise
        finally:
            seat.looking = None
        seat.show(*found)

    async def _read(
        self, seat: Seat, read: Callable[..., tuple[TicketView, State]]
    ) -> tuple[TicketView, State]:
        """Return what is read of a seat's rows; again where something happened meanwhile."""
        while True:
            before = seat.changes
            found = await in_thread(read, seat.ticket_id, seat.view)
            if seat.changes == before:
                seat.known = before
                return found

    def begin(self, work: Any) -> "asyncio.Task[None]":
        """Run something beside all else; an outage of the database is logged, not raised."""
        task: asyncio.Task[None] = asyncio.create_task(self._guarded(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _guarded(self, work: Any) -> None:
        try:
            await work
        except DatabaseError as error:
            # Pages that come back, and the next heartbeat, make it good.
            log.warning("The database does not answer a dialog: %r", error)

    def _beat(self) -> None:
        if self._heart is None or self._heart.done():
            self._heart = asyncio.create_task(self._keep_beating())
            self.bell.listen()

    async def _keep_beating(self) -> None:
        while True:
            until = time.monotonic() + HEARTBEAT_SECONDS * (0.75 + secrets.randbelow(50) / 100)
            while time.monotonic() < until:
                await asyncio.sleep(POLL_SECONDS)
                if not self.bell.is_heard:
                    await self._look_for_missed(marks_of)
            await self._look_for_missed(record_presence)

    def catch_up(self) -> None:
        """Look for what other processes may have rung while nothing was heard."""
        for seat in self.seats.values():
            seat.changes += not seat.pages
        self.begin(self._look_for_missed(marks_of))

    async def _look_for_missed(self, read: Callable[[list[int]], Marks]) -> None:
        """Let those look whose rows say otherwise than their pages."""
        present = [seat.ticket_id for seat in self.by_ticket.values() if seat.pages]
        if not present:
            return
        try:
            marks = await in_thread(read, present)
        except DatabaseError as error:
            log.warning("Sockets could not give a sign: %r", error)
            return
        for ticket_id, (mark, partner) in marks.items():
            seat = self.by_ticket.get(ticket_id)
            # What a wait has earned grows by itself.
            if seat and (mark != seat.mark or mark.state == TicketState.WAITING):
                self.look(seat)
            elif seat and partner:
                seat.note(partner)


_hubs: "WeakKeyDictionary[asyncio.AbstractEventLoop, Hub]" = WeakKeyDictionary()


def hub_here() -> Hub:
    """Return the running loop's hub, made on the first call."""
    loop = asyncio.get_running_loop()
    if loop not in _hubs:
        _hubs[loop] = Hub()
    return _hubs[loop]


def notify(ticket_ids: Iterable[int]) -> None:
    """Let the pages of these tickets look, from a job; call it once the rows are committed."""
    wanted = list(ticket_ids)
    serving = [(loop, hub) for loop, hub in list(_hubs.items()) if loop.is_running()]
    for loop, hub in serving:
        loop.call_soon_threadsafe(hub.ring, wanted)
    if not serving:
        Bell.ring_once(wanted)
