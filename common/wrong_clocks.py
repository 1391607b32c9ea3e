"""Says when a clock has jumped, and mends what one that was ahead has written."""

import time
from datetime import datetime, timedelta

from django.db.models import DateTimeField, ExpressionWrapper, F, Model, Q, QuerySet, Value

# So far two machines' clocks may differ, and nobody mends anything.
SKEW = timedelta(minutes=1)
# A clock that has jumped is often set right within minutes.
DOUBTED_SECONDS = 600


class Clock:
    """This process's clock, held against one that nobody sets."""

    def __init__(self) -> None:
        self._lead, self._jumped_at = time.time() - time.monotonic(), float("-inf")

    def has_jumped(self) -> bool:
        """Return whether it was set within the last ten minutes, or the machine has slept."""
        lead, now = time.time() - time.monotonic(), time.monotonic()
        if abs(lead - self._lead) > SKEW.total_seconds():
            self._jumped_at = now
        self._lead = lead
        return now - self._jumped_at < DOUBTED_SECONDS


CLOCK = Clock()


def over(field: str, now: datetime, longest: timedelta) -> Q:
    """Return what finds rows whose time has come, or is further ahead than `longest`."""
    return expired(field, now, now + longest + SKEW)


def expired(field: str, now: datetime, latest: datetime) -> Q:
    """Return what finds rows whose time in `field` is over, or cannot be.

    latest: further ahead no clock sets it, but one that is wrong.
    """
    return Q(**{f"{field}__lte": now}) | Q(**{f"{field}__gt": latest})


def pull_back(rows: QuerySet[Model], began: str, now: datetime, *others: str) -> int:
    """Have what is said to begin later begin now; returns how many rows.

    began: the field of a time that is past when it is written. others: those that were reckoned
    from it, and keep their distance.
    """
    ahead = F(began) - Value(now, DateTimeField())
    moved = {name: ExpressionWrapper(F(name) - ahead, DateTimeField()) for name in others}
    return rows.filter(**{f"{began}__gt": now + SKEW}).update(**moved, **{began: now})
