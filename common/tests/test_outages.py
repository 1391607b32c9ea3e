"""An outage is two lines in the log, however often a service was missed; all else is written."""

import errno
import logging
import sqlite3
from pathlib import Path
from typing import Any

import psycopg2
import pytest
import redis
from django.db import OperationalError
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.utils import ConnectionHandler
from kombu.exceptions import OperationalError as QueueError

from common import outages
from common.outages import OncePerOutage, service_of

pytestmark = pytest.mark.pure
RESET = psycopg2.OperationalError(
    "server closed the connection unexpectedly\n\tThis probably means"
)


@pytest.fixture
def once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> OncePerOutage:
    """Return a filter whose services answer, and which does not wait long."""
    for name in ("FIRST_PAUSE_SECONDS", "LONGEST_PAUSE_SECONDS"):
        monkeypatch.setattr(outages, name, 0.01)
    monkeypatch.setattr(outages, "QUIET_SECONDS", 0.05)
    return OncePerOutage(str(tmp_path))


def record(message: str, *arguments: Any, error: Exception | None = None, name: str = "django"):
    """Return what a library writes into its log."""
    caught = (type(error), error, None) if error else None
    return logging.LogRecord(name, logging.ERROR, "", 0, message, arguments, caught)


def failed_request() -> logging.LogRecord:
    """Return what Django says of a page without its database."""
    error = OperationalError("no server")
    error.__cause__ = RESET
    return record("Internal Server Error: /", error=error, name="django.request")


def test_a_hundred_failures_are_two_lines(
    once: OncePerOutage, caplog: pytest.LogCaptureFixture
) -> None:
    away = once.outages["database"]
    answers: list[Any] = [OSError(), OSError(), None]

    def ask() -> None:
        if answers[0] is not None:
            raise answers.pop(0)

    away.probe = ask
    assert not any(once.filter(failed_request()) for _ in range(100))
    assert away._thread
    away._thread.join(10)
    begun, over = (each.getMessage() for each in caplog.records)
    assert begun.startswith("The database does not answer: server closed the connection unexp")
    assert over.startswith("The database answers again after ")
    assert over.endswith("100 times it was missed.")
    assert "\n" not in begun + over


def test_what_fails_again_soon_must_be_quiet_for_longer_each_time(
    once: OncePerOutage, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A full disk lets everybody in, and fails whoever writes.
    monkeypatch.setattr(outages, "LONGEST_QUIET_SECONDS", 0.15)
    flaps, away = list[float](), once.outages["database"]
    away.probe = lambda: None
    for _ in range(4):
        away.note("No space left")
        assert away._thread
        flaps.append(away._quiet_seconds)
        away._thread.join(10)
    assert flaps == [0.05, 0.1, 0.15, 0.15]
    monkeypatch.setattr(outages, "RELAPSE_SECONDS", 0.0)
    away.note("No space left")
    assert away._quiet_seconds == 0.05


@pytest.mark.parametrize(
    "told",
    [
        failed_request(),
        record("A socket: %r", RESET),
        record("Cannot connect to redis: %s", OSError(), name="celery.worker.consumer.consumer"),
        record("Message Error: %s\n%s", QueueError("away"), "trace", name="celery.beat"),
        record("Could not", error=redis.ConnectionError("Error 111")),
        record("Could not", error=sqlite3.OperationalError("database or disk is full")),
        record("Could not", error=sqlite3.OperationalError("database is locked")),
        record("Could not", error=OSError(errno.ENOSPC, "No space left")),
    ],
)
def test_what_is_away_is_recognised(once: OncePerOutage, told: logging.LogRecord) -> None:
    for away in once.outages.values():
        away.note = lambda why: None  # type: ignore[method-assign]
    assert not once.filter(told)


class Deadlock(psycopg2.OperationalError):
    """As the driver raises it."""

    __module__ = "psycopg2.errors"
    pgcode = "40P01"


@pytest.mark.parametrize(
    "told",
    [
        record("Internal Server Error", error=ValueError("a mistake of ours")),
        record("Internal Server Error", error=sqlite3.OperationalError("no such table: a")),
        record("Internal Server Error", error=Deadlock()),
        record("Task %s raised", "x", error=OSError(errno.ENOENT, "No such file")),
    ],
)
def test_all_else_is_written(once: OncePerOutage, told: logging.LogRecord) -> None:
    assert once.filter(told)


def test_a_shutdown_by_the_operator_is_an_outage() -> None:
    class Shutdown(psycopg2.OperationalError):
        pgcode = "57P01"
        __module__ = "psycopg2.errors"

    assert service_of(Shutdown()) == "database"


def test_a_marketplace_alone_asks_after_its_own_database(monkeypatch: pytest.MonkeyPatch) -> None:
    sqlite = {"ENGINE": "django.db.backends.sqlite3", "NAME": "m"}
    asked: list[str] = []
    monkeypatch.setattr(
        "django.db.connections", ConnectionHandler({"default": {}, "marketplace": sqlite})
    )
    monkeypatch.setattr(
        BaseDatabaseWrapper, "ensure_connection", lambda each: asked.append(each.alias)
    )
    outages.ask_databases()
    assert asked == ["marketplace"]
