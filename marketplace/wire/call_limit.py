"""Keeps one account from calling more often than the host allows, in each process."""

import time

from common.rate_limit import Limit, MemoryBucket
from marketplace.wire.errors import WireError

BURST_SECONDS = 2
_buckets: dict[int, MemoryBucket] = {}


def take(account: int, calls_per_second: float, now: float | None = None) -> None:
    """Count one call of an account; raises `ThrottlingException` when it comes too soon.

    `now` is a monotonic time in seconds; 0 calls per second means no limit.
    """
    if calls_per_second <= 0:
        return
    limit = Limit(max(1.0, calls_per_second * BURST_SECONDS), 1 / calls_per_second)
    bucket = _buckets.setdefault(account, MemoryBucket())
    if bucket.take(limit, time.monotonic() if now is None else now):
        raise throttled()


def throttled() -> WireError:
    """Return the refusal of a call that came too soon."""
    return WireError("ThrottlingException", "Rate exceeded")
