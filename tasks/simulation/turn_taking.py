"""Whose turn it is: each worker is with one thread at a time and rests when there is nothing."""

import threading
from collections.abc import Callable


class Turns:
    """Shared by threads; workers are numbers from 0. clock: seconds, never going back."""

    def __init__(self, n_workers: int, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        # Equal times keep the order of numbers: who waited longest comes first.
        self._ready_at = dict.fromkeys(range(n_workers), clock())
        self._busy: set[int] = set()

    def take(self) -> int | None:
        """Return the worker who has waited longest for a turn, None while all rest or work."""
        with self._lock:
            idle = [number for number in self._ready_at if number not in self._busy]
            number = min(idle, key=self._ready_at.__getitem__, default=None)
            if number is None or self._ready_at[number] > self._clock():
                return None
            self._busy.add(number)
            return number

    def give_back(self, number: int, rest_seconds: float) -> None:
        """End a worker's turn; the next comes after `rest_seconds` at the earliest."""
        with self._lock:
            self._busy.discard(number)
            self._ready_at[number] = self._clock() + rest_seconds

    def wake(self) -> None:
        """End everybody's rest: there is something new."""
        with self._lock:
            now = self._clock()
            self._ready_at = {number: min(at, now) for number, at in self._ready_at.items()}

    @property
    def n_busy(self) -> int:
        """Return how many workers are at work."""
        return len(self._busy)
