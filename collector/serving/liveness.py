"""Tells by a sign in the cache which of Collector's processes are at work: the clock, the jobs."""

from time import monotonic
from typing import Any

from celery.beat import ScheduleEntry, Scheduler
from django.conf import settings
from django.core.cache import cache
from django.db import DatabaseError, connection
from django.utils.module_loading import import_string

# A sign counts for so long. It is the cache that forgets it: no two clocks are compared.
KEPT_SECONDS = 60
# A job without work is sent as often as this, and says so that somebody would do it.
SIGN_SECONDS = KEPT_SECONDS / 3
CLOCK_SIGN_SECONDS = 5.0
CLOCK, JOBS, DIALOGS = "clock", "jobs", "dialogs"


def record_beat(name: str) -> None:
    """Give a sign for a part of the work."""
    cache.set(f"pulse:{name}", True, KEPT_SECONDS)


def is_alive(name: str) -> bool:
    """Return whether that part has given a sign lately."""
    return bool(cache.get(f"pulse:{name}", False))


class Clock(Scheduler):
    """Celery's clock, which looks at the rows and sends a job where they have work for it.

    It goes by seconds since the machine began: what the time of day is set to puts nothing off. It
    keeps no file.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self._look_at: dict[str, float] = {}
        self._sent_at: dict[str, float] = {}
        self._sign_at = -SIGN_SECONDS
        super().__init__(*arguments, **options)

    def tick(self, *_: Any, **__: Any) -> float:
        """Send what has work, give a sign, and return in how many seconds to look again."""
        now = monotonic()
        if now - self._sign_at >= CLOCK_SIGN_SECONDS:
            self._sign_at = now
            record_beat(CLOCK)
        for name, entry in self.schedule.items():
            if now < self._look_at.get(name, now):
                continue
            self._look_at[name] = now + entry.schedule.seconds
            if now - self._sent_at.get(name, -SIGN_SECONDS) >= SIGN_SECONDS or _has_work(entry):
                self._sent_at[name] = now
                self.apply_entry(entry, producer=self.producer)
        return max(0.0, min(self._look_at.values()) - monotonic())


def _has_work(entry: ScheduleEntry) -> bool:
    """Return what the rows say; True where nobody can tell."""
    asked = settings.JOB_HAS_WORK.get(entry.name)
    try:
        return asked is None or bool(import_string(asked)())
    except DatabaseError:
        # Whoever does the job says what is wrong.
        connection.close()
        return True
