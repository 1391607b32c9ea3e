"""Stores together what comes one by one: what comes soon after one commit began is in the next."""

import asyncio
from collections.abc import Callable
from typing import Generic, TypeVar

from django.db import InterfaceError, OperationalError

from tasks.dialog.database_threads import in_thread

Item = TypeVar("Item")
# So many are stored at once at most.
AT_ONCE = 200
# No two commits begin sooner after each other: no reader notices it, and the more there is to
# store, the more of it shares a statement and the change of threads. The first does not wait.
APART_SECONDS = 0.025


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
            # Whoever sent it may have gone meanwhile.
            if not done.cancelled():
                done.set_result(result)
