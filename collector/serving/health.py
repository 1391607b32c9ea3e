"""Says which parts do their work: for a front server or a person who wonders."""

import shutil
import tempfile
from collections.abc import Callable

from django.conf import settings
from django.db import connection
from django.http import HttpRequest, JsonResponse

from collector.serving import liveness
from collector.serving.job_queue import jobs
from common import outages

BROKER_SECONDS = 2
# With less than this to go, work will be refused before long.
LEAST_FREE_BYTES = 50_000_000


def health(request: HttpRequest) -> JsonResponse:
    """Return what is well, part by part: with 200 if all is, else with 503."""
    checks = {
        "database": _answers(_ask_database),
        "disk": _answers(_write),
        "broker": _answers(_ask_broker),
        liveness.CLOCK: _answers(lambda: liveness.is_alive(liveness.CLOCK)),
        liveness.JOBS: _answers(lambda: liveness.is_alive(liveness.JOBS)),
        liveness.DIALOGS: _answers(lambda: liveness.is_alive(liveness.DIALOGS)),
    }
    reply = JsonResponse(checks, status=200 if all(checks.values()) else 503)
    reply.headers["Cache-Control"] = "no-store"
    # Whoever asks is told; the log is not, each time.
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
