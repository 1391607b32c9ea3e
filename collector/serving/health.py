"""Which parts do their work: signs of life, Celery's clock that gives one, the page of health."""

import shutil
import tempfile
from collections.abc import Callable
from time import monotonic
from typing import Any

from celery.beat import ScheduleEntry, Scheduler
from django.conf import settings
from django.core.cache import cache
from django.db import DatabaseError, connection
from django.http import HttpRequest, JsonResponse
from django.utils.module_loading import import_string

from collector.serving.job_queue import jobs
from common import outages

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
        # The job says what is wrong when it runs.
        connection.close()
        return True


BROKER_SECONDS = 2
# With less than this to go, work will be refused before long.
LEAST_FREE_BYTES = 50_000_000


def health(request: HttpRequest) -> JsonResponse:
    """Return what is well, part by part: with 200 if all is, else with 503."""
    checks = {
        "database": _answers(_ask_database),
        "disk": _answers(_write),
        "broker": _answers(_ask_broker),
        CLOCK: _answers(lambda: is_alive(CLOCK)),
        JOBS: _answers(lambda: is_alive(JOBS)),
        DIALOGS: _answers(lambda: is_alive(DIALOGS)),
    }
    reply = JsonResponse(checks, status=200 if all(checks.values()) else 503)
    reply.headers["Cache-Control"] = "no-store"
    # The answer says it; the log need not, each time.
    reply._has_been_logged = True  # type: ignore[attr-defined]
    return reply


def _answers(ask: Callable[[], bool]) -> bool:
    """Return what a part says of itself; one that fails to say anything is not well."""
    try:
        return ask()
    except Exception:
        return False


def _ask_database() -> bool:
    # On a connection from before one waits as long as a server is stopped.
    fresh = connection.copy()
    try:
        with fresh.cursor() as cursor:
            cursor.execute("SELECT 1")
    finally:
        fresh.close()
    return True


def _ask_broker() -> bool:
    if settings.CELERY_BROKER_URL.startswith("memory:"):
        return jobs.is_alive()
    if settings.CELERY_BROKER_URL.startswith(("redis:", "rediss:")):
        # One that is stopped still lets everybody in.
        outages.ask_redis(settings.CELERY_BROKER_URL, BROKER_SECONDS)
        return True
    from collector.celery import app

    with app.connection_for_write(connect_timeout=BROKER_SECONDS) as broker:
        broker.ensure_connection(max_retries=1, interval_start=0, timeout=BROKER_SECONDS)
    return True


def _write() -> bool:
    with tempfile.TemporaryFile(dir=settings.HOME) as file:
        file.write(b"0" * 4096)
    return shutil.disk_usage(settings.HOME).free > LEAST_FREE_BYTES
