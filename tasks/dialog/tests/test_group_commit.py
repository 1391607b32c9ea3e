"""What comes soon after a commit began is stored by the next one, and each is told its own."""

import asyncio
import threading

import pytest
from django.db import DataError, OperationalError

from tasks.dialog import database_threads
from tasks.dialog.database_threads import GroupCommit

# However slow the machine is.
APART_SECONDS = 600


class Store:
    """Stores numbers: negative ones do not fit, zero is an error; the first list waits for `go`."""

    def __init__(self, error=DataError):
        self.lists, self.go, self.error = [], threading.Event(), error

    def __call__(self, numbers):
        self.lists.append(numbers)
        self.go.wait(10)
        if 0 in numbers:
            raise self.error("a zero")
        return [number > 0 for number in numbers]


def add_all(store, first, others):
    """Return what became of each, the others having come while the first was stored."""

    async def all_of_them():
        commits = GroupCommit(store)
        adding = [asyncio.create_task(commits.add(first))]
        while not store.lists:
            await asyncio.sleep(0.001)
        adding += [asyncio.create_task(commits.add(number)) for number in others]
        await asyncio.sleep(0)
        store.go.set()
        return await asyncio.gather(*adding, return_exceptions=True)

    return asyncio.run(all_of_them())


def test_what_comes_during_a_commit_is_stored_together_in_the_next():
    store = Store()
    assert add_all(store, 1, [2, -3, 4]) == [True, True, False, True]
    assert store.lists == [[1], [2, -3, 4]]


def test_what_comes_soon_after_a_commit_is_stored_together(monkeypatch):
    store = Store()
    store.go.set()

    async def all_of_them():
        waited, over = asyncio.Event(), asyncio.Event()

        async def wait(seconds):
            assert 0 < seconds <= APART_SECONDS
            waited.set()
            await over.wait()

        commits = GroupCommit(store)
        await commits.add(1)
        monkeypatch.setattr(asyncio, "sleep", wait)
        second = asyncio.create_task(commits.add(2))
        await waited.wait()
        third = asyncio.create_task(commits.add(3))
        over.set()
        return await asyncio.gather(second, third)

    monkeypatch.setattr(database_threads, "APART_SECONDS", APART_SECONDS)
    assert asyncio.run(all_of_them()) == [True, True]
    assert store.lists == [[1], [2, 3]]


def test_one_that_cannot_be_stored_fails_alone():
    first, second, bad, last = add_all(Store(), 1, [2, 0, 3])
    assert (first, second, last) == (True, True, True)
    assert isinstance(bad, DataError)


@pytest.mark.parametrize("n_others", [1, 3])
def test_whoever_finds_the_database_away_is_told_so_at_once(n_others):
    store = Store(OperationalError)
    told = add_all(store, 1, [0] * n_others)[1:]
    assert [type(each) for each in told] == [OperationalError] * n_others
    assert len(store.lists) == 2
