"""Few threads for what sockets ask of the database, and commits that many messages share."""

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Generic, TypeVar

from django.db import DatabaseError, InterfaceError, OperationalError, close_old_connections

# One thread a socket would be too many connections to the database.
WORKERS = 8
THREADS = ThreadPoolExecutor(max_workers=WORKERS, thread_name_prefix="dialog")
# How long a thread trusts its connection.
CHECK_SECONDS = 5.0
_checked = threading.local()
Result = TypeVar("Result")
Item = TypeVar("Item")
# The most that are stored at once.
AT_ONCE = 200
# No two commits begin sooner after each other: no reader notices it, and the more there is to
# store, the more of it shares a statement and the change of threads. The first does not wait.
APART_SECONDS = 0.025


async def in_thread(function: Callable[..., Result], *arguments: Any, **named: Any) -> Result:
    """Return what the function returns, run in one of the threads."""
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(THREADS, lambda: _connected(function, *arguments, **named))


def _connected(function: Callable[..., Result], *arguments: Any, **named: Any) -> Result:
    """Run a function in a thread that lets go of a connection that is old or has failed."""
    if time.monotonic() > getattr(_checked, "until", 0.0):
        # Not each time: Django asks the database then whether it is still there.
        close_old_connections()
        _checked.until = time.monotonic() + CHECK_SECONDS
    try:
        return function(*arguments, **named)
    except DatabaseError:
        close_old_connections()
        raise


class GroupCommit(Generic[Item]):
    """Hands items to `store`, a list at a time; it returns for each whether it was stored."""

    def __init__(self, store: Callable[[list[Item]], list[bool]]) -> None:
        self._store = store
        self._waiting: list[tuple[Item, asyncio.Future[bool]]] = []
        self._task: asyncio.Task[None] | None = None
        self._next_at = 0.0

    async def add(self, item: Item) -> bool:
        """Return whether the item was stored, once that is committed; raises what storing raises.

        What fails with one item fails with no other.
        """
        done = asyncio.get_running_loop().create_future()
        self._waiting.append((item, done))
        if self._task is None:
            self._task = asyncio.create_task(self._commit_all())
        return await done

    async def _commit_all(self) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting:
            if (early := self._next_at - loop.time()) > 0:
                await asyncio.sleep(early)
            self._next_at = loop.time() + APART_SECONDS
            batch, self._waiting = self._waiting[:AT_ONCE], self._waiting[AT_ONCE:]
            await self._commit(batch)
        self._task = None

    async def _commit(self, batch: "list[tuple[Item, asyncio.Future[bool]]]") -> None:
        try:
            results: list[bool] = await in_thread(self._store, [item for item, _ in batch])
        except Exception as error:
            is_away = isinstance(error, OperationalError | InterfaceError)
            if len(batch) > 1 and not is_away:
                for each in batch:
                    await self._commit([each])
                return
            for _, done in batch:
                if not done.cancelled():
                    done.set_exception(error)
            return
        for (_, done), result in zip(batch, results, strict=True):
            # Its sender may have gone meanwhile.
            if not done.cancelled():
                done.set_result(result)
