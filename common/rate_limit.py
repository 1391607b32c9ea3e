"""How often something may be tried: a token bucket, in a row or in memory.

A bucket holds as many tokens as may be taken at once; each try takes one, and they come back one
after the other. What is kept of it is the time at which it will be full (the Generic Cell Rate
Algorithm, ITU-T I.371), so that a row is one time, and taking a token one conditional update.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Lock

from django.db import models
from django.db.models import F, Value
from django.db.models.functions import Greatest
from django.http import HttpRequest
from django.utils.crypto import salted_hmac

# Adding many seconds up must not cost the last token.
ROUNDING = 1e-7
# A bucket that has been full for this time is as good as none.
KEPT = timedelta(days=1)


@dataclass(frozen=True)
class Limit:
    """`at_once` tries at once, one at least, and then one each `seconds`."""

    at_once: float
    seconds: float

    @property
    def reserve(self) -> float:
        """Return how many seconds before it is full a bucket still has a token."""
        return (self.at_once - 1) * self.seconds


class MemoryBucket:
    """A bucket of one process or connection; full at first."""

    def __init__(self) -> None:
        self._full_at = float("-inf")
        self._lock = Lock()

    def take(self, limit: Limit, now: float) -> float:
        """Take a token and return 0; without one, return in how many seconds there will be one.

        now: seconds of any clock that never goes back.
        """
        with self._lock:
            wait = self._full_at - now - limit.reserve
            if wait > ROUNDING:
                return wait
            self._full_at = max(self._full_at, now) + limit.seconds
            return 0.0


class TokenBucket(models.Model):
    """A bucket that all processes of an app share: the app has a model that extends this one."""

    # A digest: neither names nor addresses are kept.
    key = models.CharField(max_length=64, primary_key=True)
    full_at = models.DateTimeField(db_index=True)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"full at {self.full_at}"

    @classmethod
    def take(cls, limit: Limit, now: datetime, *who: str) -> bool:
        """Take a token of the bucket of `who`; return whether there was one.

        Of two processes that take the last one at once, one gets it. A bucket that a clock which
        was ahead has emptied fills up within its own time.
        """
        one = timedelta(seconds=limit.seconds)
        rows = cls._default_manager
        key, until = _key_of(*who), now + timedelta(seconds=limit.reserve)
        rows.filter(full_at__lt=now - KEPT).delete()
        if rows.get_or_create(key=key, defaults={"full_at": now + one})[1]:
            return True
        mine = rows.filter(key=key)
        open_yet = mine.filter(full_at__lte=until)
        if open_yet.update(full_at=Greatest("full_at", Value(now)) + one):
            return True
        empty = until + one
        mine.filter(full_at__gt=empty).update(full_at=empty)
        return False

    @classmethod
    def give_back(cls, limit: Limit, *who: str) -> None:
        """Put a token back: what it was taken for costs none."""
        one = timedelta(seconds=limit.seconds)
        cls._default_manager.filter(key=_key_of(*who)).update(full_at=F("full_at") - one)


def client_address(request: HttpRequest, header: str) -> str:
    """Return where a request came from: of whom tries are counted.

    header: the one that the front server sets, such as X-Forwarded-For, whose last entry is
    believed; blank where there is no front server.
    """
    told = request.headers.get(header, "").rpartition(",")[2].strip() if header else ""
    return told or str(request.META.get("REMOTE_ADDR", ""))


def _key_of(*who: str) -> str:
    # Whatever is typed as a name, it is nobody else's key.
    return salted_hmac("rate-limit", repr(who), algorithm="sha256").hexdigest()
