"""The socket of a dialog page: it says who it is, sends moves, and is told what has changed."""

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, TypeVar
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

import orjson
from channels.consumer import get_handler_name
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.db import DatabaseError, close_old_connections
from django.utils import timezone

from common.rate_limit import MemoryBucket
from tasks.dialog import messages, socket_actions
from tasks.dialog.dialog_state import TicketView
from tasks.dialog.heartbeat import Heartbeats, StateFingerprint, fingerprint_of
from tasks.dialog.notifier import group_of, notify_all, serve_here
from tasks.dialog.rules import Refused

log = logging.getLogger(__name__)
# A socket that does not say who it is within this is closed.
INTRODUCTION_SECONDS = 5
# Close codes: a page that is told one of the first two does not come back by itself.
UNKNOWN, GONE, LATER = 4401, 4404, 1013
# One thread a socket would be too many connections to the database.
WORKERS = 8
THREADS = ThreadPoolExecutor(max_workers=WORKERS, thread_name_prefix="dialog")
# How long a thread trusts its connection.
CHECK_SECONDS = 5.0
_checked = threading.local()
_heartbeats_of: "WeakKeyDictionary[asyncio.AbstractEventLoop, Heartbeats]" = WeakKeyDictionary()
TOO_MANY = "Too many messages at once; wait a moment and send it again."
Result = TypeVar("Result")


class DialogConsumer(AsyncWebsocketConsumer):
    """One socket of one ticket; a page that reloads opens another one."""

    ticket_id: int | None = None
    watch: "asyncio.Task[None] | None" = None
    # How the ticket stood when this socket looked last, and the mark of what it was sent.
    seen: TicketView | None = None
    mark: StateFingerprint | None = None
    is_closed = False

    async def dispatch(self, message: dict[str, Any]) -> None:
        """Hand on what has come, at once: threads look after their own connections here."""
        await getattr(self, get_handler_name(message))(message)

    async def connect(self) -> None:
        """Accept from our own pages only, and wait for the introduction."""
        if not _from_our_page(self.scope):
            await self.close(UNKNOWN)
            return
        self.bucket = MemoryBucket()
        serve_here()
        await self.accept()
        _warm_up()
        self.watch = asyncio.create_task(self._expect_introduction())

    async def close(self, code: int | bool | None = None, reason: str | None = None) -> None:
        """Close the socket, once; what is still on its way from the page is read by nobody."""
        if not self.is_closed:
            self.is_closed = True
            await super().close(code, reason)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Take one message of the page; whatever is wrong with it is answered, not raised."""
        if self.is_closed:
            return
        message: dict[str, Any] = {}
        try:
            message = messages.read_message(text_data)
            if wait := self.bucket.take(messages.MESSAGES, time.monotonic()):
                await self._refuse(TOO_MANY, message.get("id"), wait=wait)
                return
            await (self._introduce if self.ticket_id is None else self._move)(message)
        except Refused as refused:
            await self._refuse(str(refused), message.get("id"))
        except DatabaseError as error:
            # The page comes back and sends again what was not taken.
            log.warning("The database does not answer a socket: %r", error)
            await self.close(LATER)

    async def notified(self, event: dict[str, Any]) -> None:
        """Send what the holder may see now; called when somebody else notifies."""
        if event.get("by") == self.channel_name:
            return
        try:
            await self._look()
        except DatabaseError as error:
            log.warning("The database does not answer a socket: %r", error)
            await self.close(LATER)

    async def miss(self) -> None:
        """Look as if a notice had come; not through the layer, which may be what has failed."""
        await self.notified({})

    async def disconnect(self, code: int) -> None:
        """Note that this socket is gone; the time of grace begins with the last one."""
        if self.watch:
            self.watch.cancel()
        _heartbeats().end(self)
        if self.ticket_id is not None:
            await self.channel_layer.group_discard(group_of(self.ticket_id), self.channel_name)
            await notify_all(await _in_thread(socket_actions.leave, self.ticket_id))

    async def _introduce(self, message: dict[str, Any]) -> None:
        if self.watch:
            # They have said it in time, however long it takes to let them in.
            self.watch.cancel()
        try:
            entrance = await _in_thread(socket_actions.enter, messages.token_of(message))
        except Refused as refused:
            await self._refuse(str(refused))
            await self.close(GONE)
            return
        self.ticket_id = ticket_id = entrance.ticket_id
        await self.channel_layer.group_add(group_of(entrance.ticket_id), self.channel_name)
        _heartbeats().begin(self)
        await self._show(socket_actions.first_view, ticket_id)
        await notify_all(entrance.concerned, by=self.channel_name)

    async def _move(self, message: dict[str, Any]) -> None:
        if message.get("type") == "look" or self.seen is None:
            await self._look()
            return
        step = await _in_thread(socket_actions.handle_message, self.seen, message)
        if "id" in message:
            await self._send({"type": "taken", "id": message["id"]})
        # The partner waits for this, the sender has been told already.
        await notify_all(step.concerned, by=self.channel_name)
        if step.state:
            await self._tell(step.view, step.state)

    async def _look(self) -> None:
        if self.ticket_id is not None:
            await self._show(socket_actions.refreshed, self.ticket_id)

    async def _show(
        self,
        look: Callable[..., tuple[TicketView, socket_actions.State]],
        ticket_id: int,
    ) -> None:
        seen, state = await _in_thread(look, ticket_id, self.seen)
        await self._tell(seen, state)

    async def _tell(self, seen: TicketView, state: socket_actions.State) -> None:
        self.seen, self.mark = seen, fingerprint_of(seen, timezone.now())
        await self._send({"type": "state", "state": state})

    async def _refuse(self, sentence: str, message_id: object = None, **more: float) -> None:
        known = {"id": message_id} if isinstance(message_id, str) else {}
        await self._send({"type": "refused", **known, **more, "message": sentence})

    async def _expect_introduction(self) -> None:
        await asyncio.sleep(INTRODUCTION_SECONDS)
        await self._refuse("This page did not say who it is in time; reload it.")
        await self.close(UNKNOWN)

    async def _send(self, message: dict[str, Any]) -> None:
        if self.is_closed:
            return
        try:
            await self.send(orjson.dumps(message).decode())
        except OSError:
            # The page has gone meanwhile; that it has is told by the server next.
            log.debug("A socket has gone before it was told something.")


async def _in_thread(function: Callable[..., Result], *arguments: Any) -> Result:
    """Run what needs the database in one of few threads, each with its own connection."""
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(THREADS, _connected, function, *arguments)


def _connected(function: Callable[..., Result], *arguments: Any) -> Result:
    """Run a function in a thread that lets go of a connection that is old or has failed."""
    if time.monotonic() > getattr(_checked, "until", 0.0):
        # Not each time: Django asks the database then whether it is still there.
        close_old_connections()
        _checked.until = time.monotonic() + CHECK_SECONDS
    try:
        return function(*arguments)
    except DatabaseError:
        close_old_connections()
        raise


def _heartbeats() -> Heartbeats:
    """Return the signs of the running loop's sockets."""
    loop = asyncio.get_running_loop()
    if loop not in _heartbeats_of:
        _heartbeats_of[loop] = Heartbeats(_in_thread)
    return _heartbeats_of[loop]


@cache
def _warm_up() -> None:
    """Make ready for dialogs while the first to come still waits for the second."""
    THREADS.submit(socket_actions.warm_up)


def _from_our_page(scope: dict[str, Any]) -> bool:
    """Return whether the socket was opened by a page of ours, as its Origin says."""
    headers = dict(scope["headers"])
    origin = headers.get(b"origin", b"").decode("latin-1")
    ours = urlsplit(settings.COLLECTOR_URL)
    return origin == f"{ours.scheme}://{ours.netloc}"
