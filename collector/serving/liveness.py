"""Tells by a sign in the cache which of Collector's processes are at work: the clock, the jobs."""

from typing import Any

from celery.beat import Scheduler
from django.core.cache import cache

# A sign counts for so long. It is the cache that forgets it: no two clocks are compared.
KEPT_SECONDS = 60
CLOCK, JOBS, DIALOGS = "clock", "jobs", "dialogs"


def record_beat(name: str) -> None:
    """Give a sign for a part of the work."""
    cache.set(f"pulse:{name}", True, KEPT_SECONDS)


def is_alive(name: str) -> bool:
    """Return whether that part has given a sign lately."""
    return bool(cache.get(f"pulse:{name}", False))


class Clock(Scheduler):
    """Celery's clock, which keeps no file: one left by a clock that was ahead would silence it."""

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
