"""Tests of who answers pages: a few threads that stay, and no body that could hold one of them."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import psycopg2
import pytest
from django.core.signals import request_started
from django.db import OperationalError
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase

from common import asgi_handler as module
from common.asgi_handler import THREADS, PagesHandler

SCOPE = {
    "type": "http",
    "http_version": "1.1",
    "method": "POST",
    "path": "/",
    "query_string": b"",
    "headers": [(b"host", b"localhost"), (b"transfer-encoding", b"chunked")],
}
LONGEST_BYTES = 1_000


class Visit:
    """One request: pieces of its body as they come, and then nothing until `gone`."""

    def __init__(
        self, pages: PagesHandler, *pieces: bytes, is_whole: bool = True, told: int = 0
    ) -> None:
        self.pages, self.gone, self.may_read = pages, asyncio.Event(), asyncio.Event()
        self.may_read.set()
        self.sent: list[dict[str, Any]] = []
        told_headers = [(b"content-length", str(told).encode())] if told else []
        self.scope = {**SCOPE, "headers": [*SCOPE["headers"], *told_headers]}
        whole = pieces or (b"",)
        self.pieces = [
            {
                "type": "http.request",
                "body": piece,
                "more_body": not is_whole or number < len(whole),
            }
            for number, piece in enumerate(whole, 1)
        ]

    async def receive(self) -> dict[str, Any]:
        if self.pieces:
            return self.pieces.pop(0)
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: dict[str, Any]) -> None:
        await self.may_read.wait()
        self.sent.append(message)

    async def answer(self) -> bytes:
        """Return the body of the page."""
        await self.pages(self.scope, self.receive, self.send)
        return b"".join(one.get("body", b"") for one in self.sent)

    @property
    def status(self) -> int:
        return int(self.sent[0]["status"])


@pytest.fixture
def threads() -> list[threading.Thread]:
    """The thread of each page, as they were made."""
    return []


@pytest.fixture
def pages(
    threads: list[threading.Thread], monkeypatch: pytest.MonkeyPatch, settings: Any
) -> PagesHandler:
    """Pages without a site behind them: each says what was sent to it."""
    settings.LONGEST_BODY_BYTES = LONGEST_BYTES
    made = PagesHandler()

    def note(request: HttpRequest) -> HttpResponse:
        threads.append(threading.current_thread())
        return HttpResponse(request.read() or b"Done.")

    monkeypatch.setattr(made, "get_response", note)
    return made


async def until(condition: Callable[[], bool]) -> None:
    for _ in range(1000):
        if condition():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("It never came to that.")


def test_the_next_page_is_made_in_the_same_thread(
    pages: PagesHandler, threads: list[threading.Thread]
) -> None:
    async def three() -> None:
        for _ in range(3):
            assert await Visit(pages).answer() == b"Done."
            # It has sent its page and may need a moment more before it waits.
            await until(lambda: pages._threads._work_queue.empty())
            await asyncio.sleep(0.01)

    asyncio.run(three())
    assert len(threads) == 3
    assert len({*threads}) == 1


def test_a_crowd_waits_for_as_many_threads_as_there_are(
    pages: PagesHandler, threads: list[threading.Thread], monkeypatch: pytest.MonkeyPatch
) -> None:
    together, noted = threading.Barrier(THREADS, timeout=20), pages.get_response
    monkeypatch.setattr(
        pages, "get_response", lambda request: noted(request) if together.wait() >= 0 else None
    )

    async def crowd() -> None:
        answers = await asyncio.gather(*(Visit(pages).answer() for _ in range(5 * THREADS)))
        assert answers == [b"Done."] * (5 * THREADS)

    asyncio.run(crowd())
    assert len({*threads}) == THREADS


def test_whoever_sends_nothing_holds_nobody_up(pages: PagesHandler) -> None:
    async def silence_and_a_page() -> None:
        silent = [Visit(pages, is_whole=False, told=900) for _ in range(20 * THREADS)]
        waiting = [asyncio.create_task(one.answer()) for one in silent]
        slow = Visit(pages, b"so", b"on")
        assert await asyncio.wait_for(slow.answer(), 5) == b"soon"
        for one in silent:
            one.gone.set()
        assert set(await asyncio.gather(*waiting)) == {b""}

    asyncio.run(silence_and_a_page())


def test_a_body_that_does_not_come_is_given_up(
    pages: PagesHandler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BODY_SECONDS", 0.05)
    visit = Visit(pages, b"a", is_whole=False)
    assert b"too long to arrive" in asyncio.run(visit.answer())
    assert visit.status == 408
    assert (b"Connection", b"close") in visit.sent[0]["headers"]


@pytest.mark.parametrize("told", [0, LONGEST_BYTES + 1])
def test_a_body_without_end_is_refused_before_it_is_kept(pages: PagesHandler, told: int) -> None:
    visit = Visit(pages, *[b"a" * 400] * 9, told=told)
    assert b"Send less at once" in asyncio.run(visit.answer())
    assert visit.status == 413
    # What is left is read all the same, for a client that reads no answer before it has sent all.
    assert visit.pieces == []


@pytest.mark.parametrize("told", [0, 2_000_000])
@pytest.mark.parametrize("is_known", [False, True])
def test_only_people_who_are_known_send_long_bodies(
    pages: PagesHandler, monkeypatch: pytest.MonkeyPatch, settings: Any, told: int, is_known: bool
) -> None:
    settings.LONGEST_BODY_BYTES = 3_000_000
    monkeypatch.setattr(module, "may_send", lambda request: is_known)
    stored: list[int] = []
    monkeypatch.setattr(pages, "_note", lambda body, came: stored.append(came))
    visit = Visit(pages, *[b"a" * 250_000] * 8, told=told)
    answer = asyncio.run(visit.answer())
    assert visit.status == (200 if is_known else 413)
    assert (len(answer) == 2_000_000) == is_known
    if not is_known:
        assert b"longer than 1 MB. Send less at once, or sign in first" in answer
        assert max(stored, default=0) <= (0 if told else 1_000_000)


def test_a_long_body_while_nobody_can_be_asked_who_sends_it_is_refused_for_now(
    pages: PagesHandler, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.LONGEST_BODY_BYTES = 3_000_000

    def lost(request: HttpRequest) -> bool:
        raise OperationalError("the connection is closed")

    monkeypatch.setattr(module, "may_send", lost)
    visit = Visit(pages, b"a" * 2_000_000)
    assert b"Send it again in a minute" in asyncio.run(visit.answer())
    assert visit.status == 503


def test_who_sends_a_long_body_is_asked_over_a_connection_that_is_looked_at(
    pages: PagesHandler, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.LONGEST_BODY_BYTES = 3_000_000
    seen: list[str] = []

    def begun(**_: object) -> None:
        seen.append("begun")

    def knows(request: HttpRequest) -> bool:
        seen.append("asked")
        return True

    request_started.connect(begun)
    monkeypatch.setattr(module, "may_send", knows)
    try:
        asyncio.run(Visit(pages, b"a" * 2_000_000).answer())
    finally:
        request_started.disconnect(begun)
    assert seen == ["begun", "asked", "begun"]


def test_long_bodies_have_so_much_room_together(
    pages: PagesHandler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "IN_MEMORY_BYTES", 10)
    monkeypatch.setattr(module, "MOST_STORED_BYTES", 1_500)

    async def two() -> None:
        first = Visit(pages, b"a" * 800, is_whole=False)
        waiting = asyncio.create_task(first.answer())
        await asyncio.sleep(0)
        second = Visit(pages, b"b" * 800)
        assert b"in a minute" in await second.answer()
        assert await Visit(pages, b"short").answer() == b"short"
        first.gone.set()
        await waiting
        assert await Visit(pages, b"b" * 800).answer() == b"b" * 800

    asyncio.run(two())
    assert pages._stored == {}


@pytest.mark.parametrize("kind", ["iterator", "asynchronous"])
def test_who_reads_slowly_holds_no_thread(
    pages: PagesHandler, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    async def parts() -> AsyncIterator[bytes]:
        yield b"one "
        yield b"two"

    noted, made = pages.get_response, []

    def respond(request: HttpRequest) -> HttpResponseBase:
        if request.read() != b"long":
            return noted(request)
        content = parts() if kind == "asynchronous" else iter([b"one ", b"two"])
        made.append(StreamingHttpResponse(content))
        return made[-1]

    monkeypatch.setattr(pages, "get_response", respond)

    async def read() -> None:
        slow = [Visit(pages, b"long") for _ in range(2 * THREADS)]
        for one in slow:
            one.may_read.clear()
        reading = [asyncio.create_task(one.answer()) for one in slow]
        assert await asyncio.wait_for(Visit(pages).answer(), 5) == b"Done."
        for one in slow:
            one.may_read.set()
        assert set(await asyncio.gather(*reading)) == {b"one two"}

    asyncio.run(read())
    assert all(one.closed for one in made)


def test_a_body_of_known_length_is_answered_when_all_of_it_has_come(pages: PagesHandler) -> None:
    visit = Visit(pages, b"ha", b"lf", is_whole=False)
    visit.scope = {**SCOPE, "headers": [(b"host", b"localhost"), (b"content-length", b"4")]}
    assert asyncio.run(asyncio.wait_for(visit.answer(), 5)) == b"half"


def test_a_body_in_pieces_is_read_to_its_end_whatever_length_is_told(pages: PagesHandler) -> None:
    assert asyncio.run(Visit(pages, b"all", b" of it", told=3).answer()) == b"all of it"


def test_a_request_without_a_body_is_answered_before_anything_more_comes(
    pages: PagesHandler,
) -> None:
    visit = Visit(pages)
    visit.scope = {**SCOPE, "method": "GET", "headers": [(b"host", b"localhost")]}
    asyncio.run(asyncio.wait_for(visit.answer(), 5))
    assert visit.status == 200
    assert len(visit.pieces) == 1


class Stopped:
    """A database that stops: pages that ask it wait for it, and it lets nobody in."""

    def __init__(self, pages: PagesHandler, monkeypatch: pytest.MonkeyPatch) -> None:
        self.goes_on, self.is_lost = threading.Event(), True
        self.done: list[str] = []
        monkeypatch.setattr(module, "PATIENCE_SECONDS", 0.05)
        monkeypatch.setattr(module.outages, "ask_databases", self.ask)
        monkeypatch.setattr(pages, "get_response", self.wait)
        # What is said of an outage is its own test.
        monkeypatch.setattr(module.log, "error", lambda *_: None)

    def ask(self) -> None:
        if self.is_lost:
            raise psycopg2.OperationalError("timeout expired")

    def wait(self, request: HttpRequest) -> HttpResponse:
        # As whoever checks a form's token does; what was read is closed.
        sent = request.body
        if request.path != "/health":
            self.goes_on.wait(10)
        self.done.append(sent.decode())
        return HttpResponse("Done.")


def form(pages: PagesHandler, text: bytes) -> Visit:
    visit = Visit(pages, text)
    visit.scope["headers"] = [
        (b"host", b"localhost"),
        (b"content-type", b"application/x-www-form-urlencoded"),
        (b"content-length", b"%d" % len(text)),
    ]
    return visit


def test_whoever_waits_for_a_database_that_has_stopped_is_told_so_and_keeps_the_form(
    pages: PagesHandler, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped = Stopped(pages, monkeypatch)

    async def crowd() -> None:
        forms = [form(pages, b"answer=number+%d" % number) for number in range(2 * THREADS)]
        answers = await asyncio.gather(*(one.answer() for one in forms))
        assert {one.status for one in forms} == {503}
        for number, answer in enumerate(answers):
            assert b"Our database does not answer" in answer
            assert b'value="number %d"' % number in answer
        # Nobody waits for those who wait.
        pages.aside = "/health"
        asked = Visit(pages)
        asked.scope["path"] = "/health"
        assert await asyncio.wait_for(asked.answer(), 5) == b"Done."
        stopped.is_lost = False
        stopped.goes_on.set()
        await until(lambda: len(stopped.done) == THREADS + 1)

    asyncio.run(crowd())
    # What had begun is done, each once; what nobody had begun is left to whoever asks again.
    assert len({*stopped.done}) == THREADS + 1


def test_a_slow_page_is_waited_for_while_its_database_answers(
    pages: PagesHandler, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped = Stopped(pages, monkeypatch)
    stopped.is_lost = False
    threading.Timer(0.3, stopped.goes_on.set).start()
    assert asyncio.run(Visit(pages).answer()) == b"Done."


def test_a_database_that_goes_on_is_believed_within_a_second(
    pages: PagesHandler, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped, now = Stopped(pages, monkeypatch), [1000.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    assert pages._databases.are_lost()
    stopped.is_lost = False
    # Those who wait together ask once.
    assert pages._databases.are_lost()
    now[0] += 1.1
    assert not pages._databases.are_lost()


def test_a_page_that_is_made_while_its_database_is_asked_is_not_made_again(
    pages: PagesHandler, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped = Stopped(pages, monkeypatch)
    jobs: list[Future[Any]] = []

    def ask() -> None:
        stopped.goes_on.set()
        jobs[0].result(10)
        raise psycopg2.OperationalError("timeout expired")

    def submit(*given: Any) -> "Future[Any]":
        jobs.append(ThreadPoolExecutor.submit(pages._threads, *given))
        return jobs[-1]

    monkeypatch.setattr(module.outages, "ask_databases", ask)
    monkeypatch.setattr(pages._threads, "submit", submit)
    visit = form(pages, b"answer=1")
    assert asyncio.run(visit.answer()) == b"Done."
    assert visit.status == 200
