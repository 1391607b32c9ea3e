"""Answers pages for an ASGI server: a body is awaited before its page takes a thread.

A client that sends slowly, or nothing at all, holds a connection and nothing else. Requests that
wait for a stopped database are answered with that reason.
"""

import asyncio
import io
import logging
import math
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import IO, Any

from django.conf import settings
from django.core import signals
from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIHandler, get_script_prefix
from django.core.handlers.base import BaseHandler
from django.db import DatabaseError
from django.http import FileResponse, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.urls import get_resolver, set_script_prefix

from common import outages
from common.long_bodies import SHORT_BYTES, may_send

log = logging.getLogger(__name__)
# Pages that a process makes at once: they wait for the database mostly, and each thread
# keeps a connection of its own.
THREADS = 4
# Where pages of one process ask each other, all must never wait for one more.
THREADS_OF_BOTH_SITES = 32
# What takes longer may be a page whose database has stopped: that is looked into, once in a while.
PATIENCE_SECONDS = 4.0
# How long a look at the databases is believed, for all requests that wait.
SEEN_SECONDS = 1.0
# The seconds that a body has, and the bytes of it that each give it one second more: the rule of
# Apache's mod_reqtimeout.
BODY_SECONDS, BYTES_A_SECOND = 20.0, 16_000
# What is longer is kept in a file, and there is an end to all such files of a process together.
IN_MEMORY_BYTES, MOST_STORED_BYTES = 256_000, 400_000_000
# Bytes that are read on of a refused body and kept nowhere: many clients, botocore among them, read
# no answer before they have sent all.
MOST_DISCARDED_BYTES = 120_000_000
# A request says there whether it has a body (RFC 9112, 6.3); a later HTTP need not.
HTTP_1 = ("1.0", "1.1")


class _Refused(Exception):
    """A body is not kept."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.response = HttpResponse(sentence, "text/plain; charset=utf-8", status)
        # What is left of the body is read by nobody.
        self.response.headers["Connection"] = "close"


class PagesHandler(ASGIHandler):
    """Django's pages, each wholly in one of a few threads, which keep their connections.

    Django's own handler starts threads and connects anew for every request, changes between
    threads and the loop at every middleware, and waits for a body for ever.
    """

    # An ordinary page is handed to the server in one piece.
    chunk_size = 2**20

    def __init__(self, threads: int = THREADS, aside: str = "") -> None:
        """Make the pages, the others wait in the order they came.

        threads: how many are made at once. aside: the path of a page that waits for no other one.
        """
        BaseHandler.__init__(self)
        self.load_middleware()
        self.aside = aside
        self._threads = ThreadPoolExecutor(threads, "page")
        # All others may wait for a database that has stopped.
        self._threads_aside = ThreadPoolExecutor(2, "page aside")
        self._databases = _Databases()
        self._stored: dict[int, int] = {}

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""
        try:
            body = await self._body(scope, receive)
        except RequestAborted:
            return
        except _Refused as refused:
            await self.send_response(refused.response, send)
            return
        response = await self._made(scope, body)
        if isinstance(response, StreamingHttpResponse):
            await self._stream(response, send)
        else:
            await self.send_response(response, send)

    async def _body(self, scope: Any, receive: Any) -> IO[bytes]:
        """Return the body of a request, whole; raises _Refused or RequestAborted."""
        most: int = settings.LONGEST_BODY_BYTES
        headers = dict(scope["headers"])
        told, in_pieces = headers.get(b"content-length", b""), b"transfer-encoding" in headers
        if not told and not in_pieces and scope["http_version"] in HTTP_1:
            # A page that is only asked for: to wait for nothing takes as long as to make it.
            return io.BytesIO()
        length = int(told) if told.isdigit() and not in_pieces else math.inf
        # Closed with its page.
        body: IO[bytes] = io.BytesIO()
        if length > IN_MEMORY_BYTES:
            body = tempfile.SpooledTemporaryFile(IN_MEMORY_BYTES)  # noqa: SIM115
        came, more, began = 0, True, time.monotonic()
        try:
            if told.isdigit():
                await self._check(int(told), scope)
            # To be told that all has come takes as long as to read it, and is known by its length.
            while more and came < length:
                left = began + BODY_SECONDS + came / BYTES_A_SECOND - time.monotonic()
                async with asyncio.timeout(left):
                    message = await receive()
                if message["type"] == "http.disconnect":
                    raise RequestAborted
                piece, more = message.get("body", b""), message.get("more_body", False)
                came += len(piece)
                if came > SHORT_BYTES >= came - len(piece) or came > most:
                    await self._check(came, scope)
                if came > IN_MEMORY_BYTES:
                    self._note(body, came)
                body.write(piece)
        except TimeoutError:
            self._drop(body)
            raise _Refused(408, "This took too long to arrive. Send it again.") from None
        except _Refused:
            self._drop(body)
            if more:
                await _discard(receive, min(length, MOST_DISCARDED_BYTES) - came)
            raise
        except BaseException:
            self._drop(body)
            raise
        body.seek(0)
        return body

    async def _check(self, n_bytes: int, scope: Any) -> None:
        """Raise _Refused for a body that is longer than its sender may send."""
        most: int = settings.LONGEST_BODY_BYTES
        if n_bytes > most:
            raise _Refused(413, f"This is longer than {most // 1_000_000} MB. Send less at once.")
        if n_bytes <= SHORT_BYTES:
            return
        try:
            knows = await asyncio.wrap_future(self._threads.submit(self._knows, scope))
        except DatabaseError as error:
            log.error("Nobody can be asked who sends a long body: %r", error)
            raise _Refused(
                503, "This cannot be taken at the moment. Send it again in a minute."
            ) from None
        if not knows:
            raise _Refused(
                413,
                f"This is longer than {SHORT_BYTES // 1_000_000} MB. Send less at once, or sign in "
                "first if you are sending a file.",
            )

    def _knows(self, scope: Any) -> bool:
        """Return whether who asks may send a long body; in a thread of pages, as a page is made."""
        signals.request_started.send(sender=self.__class__, scope=scope)
        request, _ = self.create_request(scope, io.BytesIO())
        return request is not None and may_send(request)

    def _note(self, body: IO[bytes], came: int) -> None:
        """Count what is kept of long bodies; raises _Refused when it is too much altogether."""
        self._stored[id(body)] = came
        if sum(self._stored.values()) > MOST_STORED_BYTES:
            raise _Refused(503, "Too much is arriving at once. Send it again in a minute.")

    def _drop(self, body: IO[bytes]) -> None:
        self._stored.pop(id(body), None)
        body.close()

    async def _made(self, scope: Any, body: IO[bytes]) -> HttpResponseBase:
        """Return the response, or one that says that the database has stopped.

        What was asked of the database is done when it goes on, but nobody waits for it. The other
        page keeps what a form has sent, unless that is long.
        """
        threads = self._threads_aside if scope["path"] == self.aside else self._threads
        # The reader of a form closes the body.
        sent = body.getvalue() if isinstance(body, io.BytesIO) else b""
        loop = asyncio.get_running_loop()
        page: asyncio.Future[HttpResponseBase] = loop.create_future()
        job = threads.submit(self._make, page, scope, body)
        while not (await asyncio.wait((page,), timeout=PATIENCE_SECONDS))[0]:
            are_lost = self._threads_aside.submit(self._databases.are_lost)
            # Meanwhile the page may have been made.
            if await asyncio.wrap_future(are_lost) and not job.done():
                page.cancel()
                if job.cancel():
                    self._drop(body)
                return await asyncio.wrap_future(
                    self._threads_aside.submit(self._excuse, scope, io.BytesIO(sent))
                )
        return page.result()

    def _make(self, page: "asyncio.Future[HttpResponseBase]", scope: Any, body: IO[bytes]) -> None:
        """Make the response in this thread and tell the loop, which takes as little as it can.

        A future of threads that the loop follows is asked for its state several times, under locks.
        """
        response, error = None, None
        try:
            response = self._answer(scope, body)
        except BaseException as raised:
            error = raised
        page.get_loop().call_soon_threadsafe(_settle, page, response, error)

    def _excuse(self, scope: Any, body: IO[bytes]) -> HttpResponseBase:
        """Return the site's page for a moment without a database."""
        set_script_prefix(get_script_prefix(scope))
        request, refusal = self.create_request(scope, body)
        if request is None:
            return refusal or HttpResponse(status=400)
        try:
            raise outages.DatabaseLost
        except outages.DatabaseLost:
            response: HttpResponseBase = get_resolver().resolve_error_handler(500)(request)
        return response

    def _answer(self, scope: Any, body: IO[bytes]) -> HttpResponseBase:
        """Return the response, made in this thread, which closes it unless it streams."""
        set_script_prefix(get_script_prefix(scope))
        signals.request_started.send(sender=self.__class__, scope=scope)
        request, refusal = self.create_request(scope, body)
        try:
            response: HttpResponseBase = (
                refusal or HttpResponse(status=400)
                if request is None
                else self.get_response(request)
            )
            if not response.streaming:
                response.close()
        finally:
            self._drop(body)
        return response

    async def _stream(self, response: StreamingHttpResponse, send: Any) -> None:
        """Send a response piece by piece; who reads slowly holds no thread meanwhile."""
        if isinstance(response, FileResponse):
            response.block_size = self.chunk_size
        if not response.is_async:
            response.streaming_content = _from_threads(iter(response))
        try:
            await self.send_response(response, send)
        finally:
            await asyncio.to_thread(response.close)


def _settle(
    page: "asyncio.Future[HttpResponseBase]",
    response: HttpResponseBase | None,
    error: BaseException | None,
) -> None:
    """Give the loop what a thread has made, unless nobody waits for it any more."""
    if page.done():
        return
    if error is not None:
        page.set_exception(error)
    elif response is not None:
        page.set_result(response)


class _Databases:
    """Whether the databases have stopped, as was seen lately."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._looked_at, self._lost = -math.inf, False

    def are_lost(self) -> bool:
        """Return whether one of them lets nobody in."""
        with self._lock:
            if time.monotonic() - self._looked_at > SEEN_SECONDS:
                self._lost = self._look()
                self._looked_at = time.monotonic()
            return self._lost

    def _look(self) -> bool:
        try:
            outages.ask_databases()
        except Exception as error:
            log.error("Pages wait for a database: %r", error)
            return outages.missing(error) is not None
        return False


async def _from_threads(pieces: Iterator[bytes]) -> AsyncIterator[bytes]:
    """Yield what an iterator does, each piece made in some thread."""
    while (piece := await asyncio.to_thread(next, pieces, None)) is not None:
        yield piece


async def _discard(receive: Any, left: float) -> None:
    """Read at most `left` bytes more of a body, as long as a short one may take; keep nothing."""
    with suppress(TimeoutError):
        async with asyncio.timeout(BODY_SECONDS):
            while left > 0:
                message = await receive()
                left -= len(message.get("body", b""))
                if not message.get("more_body"):
                    return
