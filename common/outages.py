"""Says of an outage one line when it begins and one when it is over, in place of every failure.

A service that is away fails each request and each job, many times a second; who reads the log wants
to know since when, and until when. A page that cannot be made meanwhile comes again, with what was
sent.
"""

import errno
import logging
import random
import re
import sqlite3
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest, HttpResponse, UnreadablePostError
from django.http.multipartparser import MultiPartParserError

from common.trace import JSON, TEXT

FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.5, 10.0
# An outage is over when the service answers, and nothing has failed for this time.
QUIET_SECONDS = 5.0
# A failure within this time continues the same outage: it must then be quiet for twice as long.
RELAPSE_SECONDS, LONGEST_QUIET_SECONDS = 30.0, 60.0
PROBE_SECONDS = 5
# PostgreSQL's classes of what no retry of the statement mends: connections, resources, operators.
AWAY = ("08", "53", "57P")
FULL = re.compile(r"disk is full|disk I/O error|No space left|unable to open database file")
# Another process wrote for longer than a request waits: the next request finds it done.
LOCKED = re.compile(r"database( table)? is locked")
# What libraries say in words alone, and of which service.
WORDS = {
    "celery": "queue",
    "kombu": "queue",
}
LOST = re.compile(r"[Cc]onnect|Error while reading|Timeout|timed out|broker|Message Error")

log = logging.getLogger(__name__)
STATUS = 503
# Everybody waits for the same service: they do not come back all at once.
SOONEST_SECONDS, LATEST_SECONDS = 2, 5
FORM = "application/x-www-form-urlencoded"
UNREAD = (SuspiciousOperation, MultiPartParserError, UnreadablePostError)

Fields = list[tuple[str, str]]


class Outage:
    """One service: whether it is away, and how one sees that it is back."""

    def __init__(self, name: str, probe: Callable[[], None]) -> None:
        self.name, self.probe = name, probe
        self._failed_at, self._over_at, self._count = 0.0, -RELAPSE_SECONDS, 0
        self._quiet_seconds = QUIET_SECONDS
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def note(self, why: str) -> None:
        """Count a failure; the first says that the outage has begun."""
        with self._lock:
            self._failed_at, self._count = time.monotonic(), self._count + 1
            if self._thread is not None and self._thread.is_alive():
                return
            relapsed = self._failed_at - self._over_at < RELAPSE_SECONDS
            quiet = 2 * self._quiet_seconds if relapsed else QUIET_SECONDS
            self._quiet_seconds = min(quiet, LONGEST_QUIET_SECONDS)
            self._thread = threading.Thread(target=self._wait, name="outage", daemon=True)
            self._thread.start()
        # What our own errors say is the sentence already.
        is_said = "does not answer" in why
        log.error("%s" if is_said else f"The {self.name} does not answer: %s", why)

    def _wait(self) -> None:
        """Look, ever more seldom, until the service answers, and say so."""
        began, pause = time.monotonic(), FIRST_PAUSE_SECONDS
        while True:
            # Many processes wait for the same service: they do not come back all at once.
            time.sleep(pause * random.uniform(0.5, 1.0))
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
            try:
                self.probe()
            except Exception:
                continue
            with self._lock:
                if time.monotonic() - self._failed_at < self._quiet_seconds:
                    continue
                self._over_at = time.monotonic()
                count, self._count, self._thread = self._count, 0, None
            away = time.monotonic() - began
            log.error(
                "The %s answers again after %.0f s; %d times it was missed.", self.name, away, count
            )
            return


class DatabaseLost(Exception):
    """A database has stopped amid a question, so that no driver says so."""

    missing_service = "database"


class OncePerOutage(logging.Filter):
    """A filter of a handler: keeps back what says that a service is away, which is said once."""

    def __init__(self, home: str, redis_url: str = "", market_url: str = "") -> None:
        """Watch every database of the settings, the disk `home` is on, Redis, the marketplace."""
        super().__init__()
        self.outages = {
            "database": Outage("database", ask_databases),
            "disk": Outage(f"disk of {home}", lambda: _write(home)),
            "queue": Outage("queue (Redis)", lambda: ask_redis(redis_url)),
            "marketplace": Outage("marketplace", lambda: _ask_site(market_url)),
        }

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether the record is to be written."""
        if record.name == __name__ or record.levelno < logging.WARNING:
            return True
        found = _missed(record)
        if found is None:
            return True
        service, why = found
        self.outages[service].note(why)
        return False


def logging_settings(
    home: str, redis_url: str = "", market_url: str = "", log_format: str = TEXT
) -> dict[str, Any]:
    """Return Django's LOGGING: to the console, what matters, and of an outage two lines.

    As JSON lines (`log_format`), each step too, with the ids to follow it by; see common/trace.py.
    """
    once = {
        "()": "common.outages.OncePerOutage",
        "home": home,
        "redis_url": redis_url,
        "market_url": market_url,
    }
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "filters": {"outages": once, "secrets": {"()": "common.trace.WithoutSecrets"}},
        "formatters": {TEXT: {"format": "%(message)s"}, JSON: {"()": "common.trace.JsonLines"}},
        "handlers": {
            "console": {
                "class": "logging.StreamHandler",
                "filters": ["outages", "secrets"],
                "formatter": log_format,
            }
        },
        "root": {"handlers": ["console"], "level": "WARNING"},
        # What a visitor got wrong is told to them; the server in front keeps a log of requests.
        "loggers": {
            "steps": {"level": "INFO" if log_format == JSON else "WARNING"},
            "django.request": {"level": "ERROR"},
            "django.security": {"level": "CRITICAL"},
        },
    }


def hush_server_log(server: str) -> None:
    """Have a server's own log keep back what the console's does; Django is set up already."""
    filters = [each for handler in logging.getLogger().handlers for each in handler.filters]
    for handler in logging.getLogger(server).handlers:
        handler.filters.extend(filters)


def _missed(record: logging.LogRecord) -> tuple[str, str] | None:
    """Return which service a record says to be away, and why in one line; None for all others."""
    given = [record.exc_info[1]] if record.exc_info and record.exc_info[1] else []
    arguments = record.args if isinstance(record.args, tuple) else ()
    given += [each for each in arguments if isinstance(each, BaseException)]
    for error in given:
        if found := missing(error):
            return found
    library = record.name.partition(".")[0]
    if library in WORDS and LOST.search(record.getMessage()):
        return WORDS[library], _line(record.getMessage())
    return None


def missing(error: BaseException) -> tuple[str, str] | None:
    """Return which service an error, or what led to it, says to be away, and why in one line."""
    for each in _chain(error):
        if service := service_of(each):
            return service, _line(str(each))
    return None


def service_of(error: BaseException) -> str:
    """Return which service this error says to be away: "" for one that says nothing of the kind."""
    if service := getattr(error, "missing_service", ""):
        return str(service)
    module = type(error).__module__.partition(".")[0]
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "disk"
    if isinstance(error, sqlite3.OperationalError) and FULL.search(str(error)):
        return "disk"
    if isinstance(error, sqlite3.OperationalError) and LOCKED.search(str(error)):
        return "database"
    name = type(error).__name__
    if module == "psycopg2" and hasattr(error, "pgcode"):
        # Without a code the server was not reached, or went away amid the statement.
        lost = not error.pgcode and name in ("OperationalError", "InterfaceError", "DatabaseError")
        return "database" if lost or (error.pgcode or "").startswith(AWAY) else ""
    if module in ("redis", "kombu") and name in (
        *("ConnectionError", "TimeoutError", "BusyLoadingError", "OperationalError"),
        *("ReadOnlyError", "ResponseError"),
    ):
        return "queue"
    return ""


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and what led to it."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _line(text: str) -> str:
    return " ".join(text.split())[:200]


def ask_databases() -> None:
    """Connect to every database anew; raises what the driver does when one lets nobody in."""
    from django.db import connections

    # A marketplace alone has none by the name that others go by.
    named = [each for each in connections.all() if each.vendor != "unknown"]
    for connection in named:
        connection.close()
        connection.ensure_connection()
        connection.close()


def ask_redis(url: str, seconds: float = PROBE_SECONDS) -> None:
    """Ask a Redis whether it is there; raises RedisError when it has not answered in this time."""
    import redis
    from redis.backoff import NoBackoff
    from redis.retry import Retry

    patience = {"socket_timeout": seconds, "socket_connect_timeout": seconds}
    if url:
        with redis.Redis.from_url(url, retry=Retry(NoBackoff(), 0), **patience) as server:
            server.ping()


def _ask_site(url: str) -> None:
    import httpx

    # A proxy knows nothing of this machine's own addresses.
    is_near = httpx.URL(url).host in ("127.0.0.1", "localhost", "::1")
    answer = httpx.get(url, timeout=PROBE_SECONDS, trust_env=not is_near)
    if answer.status_code >= 500:
        raise OSError(f"{url} answers {answer.status_code}")


def _write(home: str) -> None:
    with tempfile.TemporaryFile(dir=home) as file:
        file.write(b"0" * 65_536)


def is_away() -> bool:
    """Return whether the error being handled says that a service is away, and no fault of ours."""
    error = sys.exc_info()[1]
    return error is not None and missing(error) is not None


def sent_fields(request: HttpRequest) -> Fields:
    """Return what a form sent, for the same form in the page that answers it; [] for none.

    Files cannot be sent again from a page, and passwords do not go back into one.
    """
    if request.method != "POST" or request.content_type != FORM:
        return []
    try:
        fields = [(name, str(one)) for name, all_ in request.POST.lists() for one in all_]
    except UNREAD:
        return []
    return [] if any("password" in name for name, _ in fields) else fields


def with_retry(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """Return the response, marked as one of a moment: a page that was opened opens itself again."""
    seconds = random.randint(SOONEST_SECONDS, LATEST_SECONDS)
    response.status_code = STATUS
    response.headers["Retry-After"] = str(seconds)
    response.headers["Cache-Control"] = "no-store"
    if request.method == "GET":
        response.headers["Refresh"] = str(seconds)
    return response
