"""Processes of live dialogs hear each other again soon after Redis is back, and know when not."""

import asyncio
import signal
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tasks.dialog import notifier
from tasks.dialog.notifier import EVERYBODY, Connections, Notification, Notifier
from tests.rehearsals import restartable_services

BACK_SECONDS = 5.0


@pytest.fixture
def redis(settings: Any) -> Iterator[restartable_services.RunningService]:
    with restartable_services.redis() as running:
        settings.REDIS_URL = f"redis://127.0.0.1:{running.port}/0"
        notifier._sender.cache_clear()
        yield running
        notifier._sender.cache_clear()


def notifier_for(
    look: Callable[[list[int]], None] = lambda ticket_ids: None,
    catch_up: Callable[[], None] = lambda: None,
    receive: Callable[[list[int], Any], None] = lambda ticket_ids, news: None,
    meet: Callable[[int, Any], None] = lambda ticket_id, shown: None,
) -> Notifier:
    """Return a process's line."""
    return Notifier(look, receive, meet, catch_up)


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
    monkeypatch.setattr(notifier, "QUIET_SECONDS", 0.5)
    heard: list[int] = []
    missed: list[bool] = []

    async def lose_redis_and_get_it_back() -> None:
        one, other = notifier_for(heard.extend, lambda: missed.append(True)), notifier_for()
        one.listen()
        await wait_for(lambda: one.is_connected)
        other.notify([1, 2])
        await wait_for(lambda: heard == [1, 2])
        if how == signal.SIGKILL:
            redis.kill()
        elif redis.process:
            redis.process.send_signal(how)
        await wait_for(lambda: not one.is_connected)
        other.notify([3])
        await asyncio.sleep(0.1)
        if how == signal.SIGKILL:
            await asyncio.to_thread(redis.start)
        elif redis.process:
            redis.process.send_signal(signal.SIGCONT)
        took = await wait_for(lambda: one.is_connected)
        assert took < BACK_SECONDS
        assert len(missed) == 2, "those whose rings were lost look for themselves"

    asyncio.run(lose_redis_and_get_it_back())


def test_news_go_to_those_processes_alone_that_have_said_they_have_the_pages(
    redis: restartable_services.RunningService,
) -> None:
    heard: dict[str, list[Any]] = {"one": [], "other": [], "third": []}
    met: list[Any] = []

    def called(name: str) -> Notifier:
        return notifier_for(
            heard[name].extend,
            receive=lambda *news: heard[name].append(news),
            meet=lambda *shown: met.append(shown),
        )

    async def talk() -> None:
        one, other, third = lines = [called(name) for name in heard]
        for line in lines:
            line.listen()
        await wait_for(lambda: all(line.is_connected for line in lines))
        other.send_news([7], "to all")
        await wait_for(lambda: heard["one"] == heard["third"] == [([7], "to all")])
        one.report_connection(7, True, 1, [8, 1, 0, False])
        await wait_for(lambda: len(met) == 2)
        assert met[0] == (7, [8, 1, 0, False])
        assert one.elsewhere([7]) == []
        other.send_news([7], "to one")
        other.notify([7])
        await wait_for(lambda: heard["one"][1:] == [7, ([7], "to one")])
        # A second page of theirs, and then the first is closed.
        third.report_connection(7, True, 2)
        await wait_for(lambda: one.elsewhere([7]) == [7])
        one.report_connection(7, False, 1)
        await wait_for(lambda: third.elsewhere([7]) == [])
        other.send_news([7], "to the third")
        await wait_for(lambda: heard["third"][1:] == [([7], "to the third")])
        # It dies without a word, and the pages come to one that has not said so yet.
        assert third._listening
        third._listening.cancel()
        await asyncio.sleep(0.1)
        other.send_news([7], "lost")
        await wait_for(lambda: heard["one"][3:] == [7])
        assert len(heard["one"]) == 4

    asyncio.run(talk())


def test_what_one_process_is_told_goes_along_with_what_everybody_hears(settings: Any) -> None:
    settings.REDIS_URL = "redis://nobody.invalid"
    line = notifier_for()
    for ticket_id, process in ((7, "one"), (8, "other")):
        line._connections.note(ticket_id, process, True, 1)
    said = Notification({7: None}, [([7], "news")], {9: [9, True, 1, None]})
    assert line._addressed(said) == {EVERYBODY: said}
    said = Notification({7: None}, [([8], "news")], {9: [9, True, 1, None]})
    assert line._addressed(said) == {
        EVERYBODY: Notification(moved=said.moved),
        "one": Notification(look=said.look),
        "other": Notification(news=said.news),
    }


def test_a_count_of_more_than_have_spoken_is_news_for_everybody() -> None:
    known = Connections()
    assert known.of(7) is None
    known.note(7, "one", True, 2)
    assert known.of(7) is None
    known.note(7, "other", True, 2)
    assert known.of(7) == {"one", "other"}
    known.note(7, "one", False, 1)
    assert known.of(7) == {"other"}
    known.forget(7)
    assert known.of(7) is None


def test_what_processes_of_an_older_version_say_is_heard(settings: Any) -> None:
    heard: list[Any] = []
    line = notifier_for(heard.extend, receive=lambda *news: heard.append(news))
    line._take(b'["other", [1, 2], [[[3], "news"]]]')
    line._take(b"[null, [4]]")
    assert heard == [1, 2, ([3], "news"), 4]


def test_a_site_without_redis_has_no_others_to_hear(settings: Any) -> None:
    settings.REDIS_URL = ""
    assert notifier_for().is_connected
    Notifier.notify_once([1])
