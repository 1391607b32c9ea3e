"""Processes of live dialogs hear each other again soon after Redis is back, and know when not."""

import asyncio
import signal
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tasks.dialog import bell
from tasks.dialog.bell import Bell
from tests.rehearsals import restartable_services

BACK_SECONDS = 5.0


@pytest.fixture
def redis(settings: Any) -> Iterator[restartable_services.RunningService]:
    with restartable_services.redis() as running:
        settings.REDIS_URL = f"redis://127.0.0.1:{running.port}/0"
        bell._sender.cache_clear()
        yield running
        bell._sender.cache_clear()


def bell_for(
    hear: Callable[[list[int]], None] = lambda ticket_ids: None,
    catch_up: Callable[[], None] = lambda: None,
    be_told: Callable[[list[int], Any], None] = lambda ticket_ids, news: None,
) -> Bell:
    """Return a process's line."""
    return Bell(hear, be_told, catch_up)


async def wait_for(said: Callable[[], bool], seconds: float = 20) -> float:
    """Return how many seconds it took."""
    began = time.monotonic()
    while not said():
        assert time.monotonic() < began + seconds
        await asyncio.sleep(0.02)
    return time.monotonic() - began


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
def test_what_is_rung_during_an_outage_is_heard_within_seconds_of_its_end(
    redis: restartable_services.RunningService,
    how: signal.Signals,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bell, "QUIET_SECONDS", 0.5)
    heard: list[int] = []
    missed: list[bool] = []

    async def lose_redis_and_get_it_back() -> None:
        one, other = bell_for(heard.extend, lambda: missed.append(True)), bell_for()
        one.listen()
        await wait_for(lambda: one.is_heard)
        other.ring([1, 2])
        await wait_for(lambda: heard == [1, 2])
        if how == signal.SIGKILL:
            redis.kill()
        elif redis.process:
            redis.process.send_signal(how)
        await wait_for(lambda: not one.is_heard)
        other.ring([3])
        await asyncio.sleep(0.1)
        if how == signal.SIGKILL:
            await asyncio.to_thread(redis.start)
        elif redis.process:
            redis.process.send_signal(signal.SIGCONT)
        took = await wait_for(lambda: one.is_heard)
        assert took < BACK_SECONDS
        assert len(missed) == 2, "those whose rings were lost look for themselves"

    asyncio.run(lose_redis_and_get_it_back())


def test_a_site_without_redis_has_no_others_to_hear(settings: Any) -> None:
    settings.REDIS_URL = ""
    assert bell_for().is_heard
    Bell.ring_once([1])
