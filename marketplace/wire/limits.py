"""Keeps one account from calling more often than the host allows, in each process."""

import time
from dataclasses import dataclass, field
from threading import Lock

from marketplace.wire.errors import WireError

BURST_SECONDS = 2


@dataclass
class Bucket:
    """Calls an account may still make; it fills again at the rate of the limit."""

    n_left: float
    filled_at: float
    lock: Lock = field(default_factory=Lock)


_buckets: dict[int, Bucket] = {}


def take(account: int, calls_per_second: float, now: float | None = None) -> None:
    """Count one call of an account; raises `ThrottlingException` when it comes too soon.

    `now` is a monotonic time in seconds; 0 calls per second means no limit.
    """
    if calls_per_second <= 0:
        return
    now = time.monotonic() if now is None else now
    most = max(1.0, calls_per_second * BURST_SECONDS)
    bucket = _buckets.setdefault(account, Bucket(most, now))
    with bucket.lock:
        grown = bucket.n_left + (now - bucket.filled_at) * calls_per_second
        bucket.n_left, bucket.filled_at = min(most, grown), now
        if bucket.n_left < 1:
            raise throttled()
        bucket.n_left -= 1


def throttled() -> WireError:
    """Return the refusal of a call that came too soon."""
    return WireError("ThrottlingException", "Rate exceeded")
