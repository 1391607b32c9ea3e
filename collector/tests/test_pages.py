"""Tests of who answers pages: threads that stay, each for one request at a time."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.http import HttpResponse

from collector.pages import MOST_IDLE, Pages

SCOPE = {
    "type": "http",
    "method": "GET",
    "path": "/",
    "query_string": b"",
    "headers": [(b"host", b"localhost")],
}


class Visit:
    """One request; `gone` when whoever asked has closed the connection."""

    def __init__(self, pages: Pages) -> None:
        self.pages, self.gone = pages, asyncio.Event()
        self.sent: list[dict[str, Any]] = []
        self._asked = False

    async def receive(self) -> dict[str, Any]:
        if not self._asked:
            self._asked = True
            return {"type": "http.request", "body": b"", "more_body": False}
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: dict[str, Any]) -> None:
        self.sent.append(message)

    async def answer(self) -> bytes:
        """Return the body of the page."""
        await self.pages({**SCOPE}, self.receive, self.send)
        return b"".join(one.get("body", b"") for one in self.sent)


@pytest.fixture
def threads() -> list[threading.Thread]:
    """The thread of each page, as they were made."""
    return []


@pytest.fixture
def pages(threads: list[threading.Thread], monkeypatch: pytest.MonkeyPatch) -> Pages:
    """Pages without a site behind them."""
    made = Pages()
    monkeypatch.setattr(made, "get_response", lambda request: note(threads))
    return made


def note(threads: list[threading.Thread]) -> HttpResponse:
    threads.append(threading.current_thread())
    return HttpResponse("Done.")


async def until(condition: Callable[[], bool]) -> None:
    for _ in range(1000):
        if condition():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("It never came to that.")


def test_the_next_page_is_made_in_the_same_thread(
    pages: Pages, threads: list[threading.Thread]
) -> None:
    async def three() -> None:
        for _ in range(3):
            assert await Visit(pages).answer() == b"Done."
            await until(lambda: len(pages._idle) == 1)

    asyncio.run(three())
    assert len(threads) == 3
    assert len({*threads}) == 1


def test_a_crowd_is_answered_at_once_and_its_threads_end(
    pages: Pages, threads: list[threading.Thread], monkeypatch: pytest.MonkeyPatch
) -> None:
    number = MOST_IDLE + 4
    together = threading.Barrier(number, timeout=20)

    def meet(request: Any) -> HttpResponse:
        together.wait()
        return note(threads)

    monkeypatch.setattr(pages, "get_response", meet)

    async def crowd() -> None:
        await asyncio.gather(*(Visit(pages).answer() for _ in range(number)))
        assert len({*threads}) == number
        await until(lambda: sum(one.is_alive() for one in threads) == MOST_IDLE)

    asyncio.run(crowd())
    assert len(pages._idle) == MOST_IDLE


def test_a_thread_that_works_for_somebody_who_has_left_is_given_to_nobody(
    pages: Pages, threads: list[threading.Thread], monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, may_end = threading.Event(), threading.Event()

    def take_long(request: Any) -> HttpResponse:
        begun.set()
        may_end.wait(20)
        return note(threads)

    async def leave_and_come() -> None:
        with monkeypatch.context() as slow:
            slow.setattr(pages, "get_response", take_long)
            visit = Visit(pages)
            first = asyncio.create_task(visit.answer())
            await asyncio.to_thread(begun.wait, 20)
            visit.gone.set()
        assert await asyncio.wait_for(Visit(pages).answer(), 20) == b"Done."
        may_end.set()
        await first
        await until(lambda: len(pages._idle) == 2)

    asyncio.run(leave_and_come())
    assert len({*threads}) == 2
