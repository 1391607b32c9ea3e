"""Keeps what was read of rows that never change, in a process's memory, once they are committed."""

from collections.abc import Callable
from functools import partial
from threading import Lock
from typing import Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, transaction

Value = TypeVar("Value")


class CommittedCache(Generic[Value]):
    """A function whose values are kept by its arguments, the ones asked for last.

    What is read inside a transaction is kept when that is committed: rows that are rolled back
    leave nothing behind, though the next rows may get their keys.
    """

    def __init__(self, read: Callable[..., Value], size: int, using: str) -> None:
        self._read = read
        self._size = size
        self._using = using
        self._kept: dict[tuple[object, ...], Value] = {}
        self._lock = Lock()
        self.__doc__ = read.__doc__

    def __call__(self, *key: object) -> Value:
        """Return the value for these arguments; what reading raises is not kept."""
        with self._lock:
            if key in self._kept:
                # The last in order is the one asked for last.
                value = self._kept[key] = self._kept.pop(key)
                return value
        value = self._read(*key)
        transaction.on_commit(partial(self._keep, key, value), using=self._using)
        return value

    def clear(self) -> None:
        """Forget everything, as another process has never read it."""
        with self._lock:
            self._kept.clear()

    def _keep(self, key: tuple[object, ...], value: Value) -> None:
        with self._lock:
            self._kept[key] = value
            while len(self._kept) > self._size:
                del self._kept[next(iter(self._kept))]


def kept_once_committed(
    size: int, using: str = DEFAULT_DB_ALIAS
) -> Callable[[Callable[..., Value]], CommittedCache[Value]]:
    """Decorate a function of hashable arguments that reads rows which never change again.

    size: of how many arguments the values are kept. using: the database that it reads.
    """
    return lambda read: CommittedCache(read, size, using)
