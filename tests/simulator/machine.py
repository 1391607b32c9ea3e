"""The clock and the randomness that a simulated process has in place of the machine's.

`substitute` is called before anything of the product is imported: some of it keeps the functions.
"""

import mmap
import os
import random
import struct
import time
from datetime import UTC, datetime, timedelta

REAL_SECONDS = time.perf_counter
BEGAN = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


class VirtualTime:
    """Seconds since BEGAN, shared by all processes of a run; nothing moves them but acts."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Begin a clock that this process shares with those that it forks from now on."""
        self._shared = mmap.mmap(-1, 8)

    @property
    def seconds(self) -> float:
        """Return how far the clock has come."""
        return float(struct.unpack("d", self._shared[:8])[0])

    def now(self) -> datetime:
        """Return the time that every clock of the run shows."""
        return BEGAN + timedelta(seconds=self.seconds)

    def set(self, seconds: float) -> None:
        """Let every clock of the run show another time."""
        self._shared[:8] = struct.pack("d", seconds)

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self.set(self.seconds + max(0.0, seconds))


TIME = VirtualTime()
CHANCE = random.Random(0)


def reseed(seed: str) -> None:
    """Begin all randomness of this process anew."""
    CHANCE.seed(seed)
    random.seed(seed)


def substitute() -> None:
    """Replace the clocks and the randomness of this process and of those that it forks."""
    os.environ["PYTHONHASHSEED"] = "0"
    time.time = lambda: BEGAN.timestamp() + TIME.seconds
    time.monotonic = lambda: 1000.0 + TIME.seconds
    time.sleep = TIME.advance
    os.urandom = lambda n: CHANCE.randbytes(n)
    # What SystemRandom and `secrets` read.
    random._urandom = os.urandom  # type: ignore[attr-defined]
    import botocore.auth
    from django.utils import timezone

    from marketplace import clock

    # Before models are read: fields keep the function itself as their default.
    timezone.now = clock.now = clock.real_now = TIME.now
    botocore.auth.get_current_datetime = lambda remove_tzinfo=True: TIME.now().replace(
        tzinfo=None if remove_tzinfo else UTC
    )
