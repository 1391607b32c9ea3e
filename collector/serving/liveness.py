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
CLOCK, JOBS, DIALOGS = "clock", "jobs", "dialogs"


def record_beat(name: str) -> None:
    """Give a sign for a part of the work."""
    cache.set(f"pulse:{name}", True, KEPT_SECONDS)


def is_alive(name: str) -> bool:
    """Return whether that part has given a sign lately."""
    return bool(cache.get(f"pulse:{name}", False))


class Clock(Scheduler):
    """Celery's clock, which sends a job where rows have work for it.

    It keeps no file: one left by a clock that was ahead would silence it.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self._sent_at: dict[str, float] = {}
        super().__init__(*arguments, **options)

    def apply_entry(self, entry: ScheduleEntry, producer: Any = None) -> None:
        """Send a job, unless it would find nothing to do."""
        now = monotonic()
        if now - self._sent_at.get(entry.name, -SIGN_SECONDS) >= SIGN_SECONDS or _has_work(entry):
            self._sent_at[entry.name] = now
            super().apply_entry(entry, producer)

    def tick(self, *arguments: Any, **options: Any) -> float:
        """Send what is due, give a sign, and return in how many seconds to look again."""
        record_beat(CLOCK)
        ahead = [each for each in self.schedule.values() if each.last_run_at > each.default_now()]
        for entry in ahead:
            # The machine's clock was set back: nothing is put off until it is as late again.
            entry.last_run_at = entry.default_now()
        if ahead:
            self.populate_heap()
        return float(super().tick(*arguments, **options))


def _has_work(entry: ScheduleEntry) -> bool:
    """Return what the rows say; True where nobody can tell."""
    asked = settings.JOB_HAS_WORK.get(entry.name)
    try:
        return asked is None or bool(import_string(asked)())
    except DatabaseError:
        # Whoever does the job says what is wrong.
        connection.close()
        return True
