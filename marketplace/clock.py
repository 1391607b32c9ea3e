"""The one place the marketplace asks for the time, so that a test can stand at any hour."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

_shift = timedelta(0)


def now() -> datetime:
    """Return the current time, timezone-aware UTC, shifted by whatever `advance` was asked for."""
    return datetime.now(UTC) + _shift


def real_now() -> datetime:
    """Return the unshifted time: a client signs with its own clock, whatever hour we pretend."""
    return datetime.now(UTC)


def advance(by: timedelta) -> None:
    """Move the clock forward for this process; nothing but tests and rehearsals do."""
    global _shift
    _shift += by


@contextmanager
def shifted() -> Iterator[None]:
    """Undo every `advance` made inside the block when it ends."""
    global _shift
    before = _shift
    try:
        yield
    finally:
        _shift = before
