"""The socket of a dialog page: it says who it is, sends moves, and is told what has changed."""

import asyncio
import contextlib
import logging
import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar
from urllib.parse import urlsplit

import orjson
from asgiref.sync import sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.db import close_old_connections

from tasks.dialog import room
from tasks.dialog.doorbell import group_of
from tasks.dialog.rules import Refused

log = logging.getLogger(__name__)
# A socket that does not say who it is within this is closed.
INTRODUCTION_SECONDS = 5
# How often the server notes that a socket is still there; uvicorn's ping closes dead ones.
SIGN_SECONDS = 20
UNKNOWN, GONE = 4401, 4404
# One thread a socket would be too many connections to the database.
THREADS = ThreadPoolExecutor(max_workers=8, thread_name_prefix="dialog")
Result = TypeVar("Result")


class DialogConsumer(AsyncWebsocketConsumer):
    """One socket of one ticket; a page that reloads opens another one."""

    ticket_id: int | None = None
    watch: "asyncio.Task[None] | None" = None

    async def connect(self) -> None:
        """Accept from our own pages only, and wait for the introduction."""
        if not _from_our_page(self.scope):
            await self.close(UNKNOWN)
            return
        await self.accept()
        self.watch = asyncio.create_task(self._expect_introduction())

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Take one message of the page; whatever is wrong with it is answered, not raised."""
        try:
            message = orjson.loads(text_data or "")
            kind = message["type"]
        except (orjson.JSONDecodeError, KeyError, TypeError):
            await self._send({"type": "refused", "message": "That could not be read."})
            return
        if self.ticket_id is None:
            await self._introduce(message)
            return
        reply_to = message.get("id")
        try:
            await _in_thread(room.move, self.ticket_id, kind, message)
        except Refused as refused:
            await self._send({"type": "refused", "id": reply_to, "message": str(refused)})
            return
        if reply_to:
            await self._send({"type": "taken", "id": reply_to})
        await self.rung({})

    async def rung(self, event: dict[str, Any]) -> None:
        """Send what the holder may see now; called when somebody rings."""
        if self.ticket_id is not None:
            await self._send(
                {"type": "state", "state": await _in_thread(room.look, self.ticket_id)}
            )

    async def disconnect(self, code: int) -> None:
        """Note that this socket is gone; the time of grace begins with the last one."""
        if self.watch:
            self.watch.cancel()
        if self.ticket_id is not None:
            await self.channel_layer.group_discard(group_of(self.ticket_id), self.channel_name)
            await _in_thread(room.leave, self.ticket_id)

    async def _introduce(self, message: dict[str, Any]) -> None:
        token = message.get("token")
        ticket_id = await _in_thread(room.enter, token) if isinstance(token, str) else None
        if ticket_id is None:
            await self.close(GONE)
            return
        self.ticket_id = ticket_id
        await self.channel_layer.group_add(group_of(ticket_id), self.channel_name)
        if self.watch:
            self.watch.cancel()
        self.watch = asyncio.create_task(self._give_signs())
        await self.rung({})

    async def _expect_introduction(self) -> None:
        await asyncio.sleep(INTRODUCTION_SECONDS)
        await self.close(UNKNOWN)

    async def _give_signs(self) -> None:
        while True:
            await asyncio.sleep(SIGN_SECONDS * (0.75 + secrets.randbelow(50) / 100))
            with contextlib.suppress(Exception):
                await _in_thread(room.sign, self.ticket_id)

    async def _send(self, message: dict[str, Any]) -> None:
        await self.send(orjson.dumps(message).decode())


async def _in_thread(function: Callable[..., Result], *arguments: Any) -> Result:
    """Run what needs the database in one of few threads, each with its own connection."""

    def call() -> Result:
        close_old_connections()
        try:
            return function(*arguments)
        finally:
            close_old_connections()

    return await sync_to_async(call, thread_sensitive=False, executor=THREADS)()


def _from_our_page(scope: dict[str, Any]) -> bool:
    """Return whether the socket was opened by a page of ours, as its Origin says."""
    headers = dict(scope["headers"])
    origin = headers.get(b"origin", b"").decode("latin-1")
    ours = urlsplit(settings.COLLECTOR_URL)
    return origin == f"{ours.scheme}://{ours.netloc}"
