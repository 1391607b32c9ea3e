"""The socket of a dialog page: it says who it is, sends moves, and is told what has changed."""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import orjson
from django.conf import settings
from django.db import DatabaseError

from common.rate_limit import MemoryBucket
from tasks.dialog import socket_actions
from tasks.dialog.database_threads import THREADS
from tasks.dialog.hub import Connection, Hub, hub_here
from tasks.work.dialog_rules import Refused

log = logging.getLogger(__name__)
# A socket that does not say who it is within this is closed.
INTRODUCTION_SECONDS = 5
# Close codes: a page that is told one of the first two does not come back by itself.
UNKNOWN, GONE, LATER = 4401, 4404, 1013
# The server stops, and its pages come back to the next one.
RESTARTED = 1012
TOO_MANY = "Too many messages at once; wait a moment and send it again."
# A page that has left this many messages unread is not there any more.
MOST_UNREAD = 200
Message = dict[str, Any]


async def serve_dialog(
    scope: Message,
    receive: Callable[[], Awaitable[Message]],
    send: Callable[[Message], Awaitable[None]],
) -> None:
    """Serve one socket, an ASGI application; a page that reloads opens another one."""
    await receive()
    if not _from_our_page(scope):
        await send({"type": "websocket.close", "code": UNKNOWN})
        return
    await send({"type": "websocket.accept"})
    _warm_up()
    await DialogSocket(receive, send).serve()


class DialogSocket:
    """One open socket, and what is still to be sent over it."""

    def __init__(
        self,
        receive: Callable[[], Awaitable[Message]],
        send: Callable[[Message], Awaitable[None]],
    ) -> None:
        self._receive, self._send = receive, send
        self._hub: Hub = hub_here()
        self._connection: Connection | None = None
        self._bucket = MemoryBucket()
        self._unsent: deque[Message] = deque()
        self._sending: asyncio.Task[None] | None = None
        self._is_closed = False

    async def serve(self) -> None:
        """Serve the page until either side closes the socket."""
        event = await self._first()
        try:
            while event["type"] != "websocket.disconnect" and not self._is_closed:
                await self._take(event.get("text"))
                # What is on its way from a page that was refused is read by nobody.
                if not self._is_closed:
                    event = await self._receive()
        finally:
            if self._connection:
                self._hub.leave(self, self._connection)
                if event.get("code") == RESTARTED:
                    await self._hub.go(self._connection)
        if self._sending:
            await self._sending

    async def _first(self) -> Message:
        """Return what the page says first, in time: not how long it takes to let them in."""
        try:
            async with asyncio.timeout(INTRODUCTION_SECONDS):
                return await self._receive()
        except TimeoutError:
            # Over a slow line what a page says first may take longer: it comes back.
            self._close(LATER)
            return {"type": "websocket.disconnect"}

    def send(self, message: Message) -> None:
        """Send a message to the page, in the order in which it is told them."""
        self._put({"type": "websocket.send", "text": orjson.dumps(message).decode()})
        if len(self._unsent) > MOST_UNREAD:
            self._unsent.clear()
            self._close(LATER)

    def reconnect(self) -> None:
        """Close the page's socket; it opens another one by itself."""
        self._close(LATER)

    async def _take(self, text: str | None) -> None:
        """Take one message of the page; whatever is wrong with it is answered, not raised."""
        message: Message = {}
        try:
            message = socket_actions.read_message(text)
            if wait := self._bucket.take(socket_actions.MESSAGES, time.monotonic()):
                self._refuse(TOO_MANY, message.get("id"), wait=wait)
            elif self._connection is None:
                await self._introduce(message)
            else:
                await self._do(self._connection, message)
        except Refused as refused:
            self._refuse(str(refused), message.get("id"))
        except DatabaseError as error:
            # The page comes back and sends again what was not taken.
            log.warning("The database does not answer a socket: %r", error)
            self._close(LATER)

    async def _introduce(self, message: Message) -> None:
        try:
            holder = socket_actions.holder_of(socket_actions.token_of(message))
            self._connection = await self._hub.enter(
                self, holder, again=message.get("again") is True
            )
        except Refused as refused:
            self._refuse(str(refused))
            self._close(GONE)

    async def _do(self, connection: Connection, message: Message) -> None:
        if message.get("type") == "look":
            self._hub.look(connection)
        elif move := socket_actions.move_of(message):
            await self._hub.make(self, connection, move, message["id"])
        else:
            await self._hub.act(self, connection, message)

    def _refuse(self, sentence: str, message_id: object = None, **more: float) -> None:
        known = {"id": message_id} if isinstance(message_id, str) else {}
        self.send({"type": "refused", **known, **more, "message": sentence})

    def _close(self, code: int) -> None:
        """Close the socket, once all that was told before is sent."""
        self._put({"type": "websocket.close", "code": code})
        self._is_closed = True

    def _put(self, event: Message) -> None:
        if self._is_closed:
            return
        self._unsent.append(event)
        if self._sending is None or self._sending.done():
            self._sending = asyncio.create_task(self._send_all())

    async def _send_all(self) -> None:
        try:
            while self._unsent:
                await self._send(self._unsent.popleft())
        except (OSError, RuntimeError):
            # The page has gone meanwhile; that it has is told by the server next.
            self._unsent.clear()


@cache
def _warm_up() -> None:
    """Make ready for dialogs while the first to come still waits for the second."""
    THREADS.submit(socket_actions.warm_up)


def _from_our_page(scope: Message) -> bool:
    """Return whether the socket was opened by a page of ours, as its Origin says."""
    headers = dict(scope["headers"])
    origin = headers.get(b"origin", b"").decode("latin-1")
    ours = urlsplit(settings.COLLECTOR_URL)
    return origin == f"{ours.scheme}://{ours.netloc}"
