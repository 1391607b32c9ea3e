"""The clock goes on whatever the machine's clock did, and says that it does."""

from datetime import timedelta
from typing import Any

import pytest
from celery.beat import ScheduleEntry
from django.core.cache import cache
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext

from collector.celery import app
from collector.serving import health
from collector.serving.health import CLOCK, Clock, is_alive
from collector.settings import DIALOG_POLL_SECONDS, POLL_SECONDS


class Stood:
    """A clock that sends nothing, at a time of our own."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.clock, self.now, self.has_work = Clock(app, lazy=True), 0.0, False
        self.sent: list[str] = []
        self.clock.setup_schedule()
        monkeypatch.setattr(
            self.clock, "apply_entry", lambda entry, **_: self.sent.append(entry.name)
        )
        monkeypatch.setattr(Clock, "producer", None)
        monkeypatch.setattr(health, "_has_work", lambda entry: self.has_work)
        monkeypatch.setattr(health, "monotonic", lambda: self.now)


@pytest.fixture
def stood(monkeypatch: pytest.MonkeyPatch) -> Stood:
    """Return a clock that sends nothing."""
    return Stood(monkeypatch)


@pytest.mark.pure
def test_a_clock_that_is_set_back_puts_nothing_off(stood: Stood) -> None:
    stood.has_work = True
    assert stood.clock.tick() <= DIALOG_POLL_SECONDS
    assert set(stood.sent) == {"due", "dialogs"}
    # What was sent was noted a year from now.
    for entry in stood.clock.schedule.values():
        entry.last_run_at += timedelta(days=365)
    stood.now += max(POLL_SECONDS, DIALOG_POLL_SECONDS)
    stood.clock.tick()
    assert stood.sent[2:] == stood.sent[:2]


@pytest.mark.pure
def test_each_job_is_looked_for_in_its_own_time(stood: Stood) -> None:
    stood.has_work = True
    while stood.now < 60:
        stood.now += stood.clock.tick()
    assert stood.sent.count("due") == 60 / POLL_SECONDS
    assert stood.sent.count("dialogs") == pytest.approx(60 / DIALOG_POLL_SECONDS, abs=1)


@pytest.mark.pure
def test_it_keeps_no_file_and_gives_a_sign(stood: Stood, settings: Any) -> None:
    assert settings.CELERY_BEAT_SCHEDULER == "collector.serving.health:Clock"
    assert not hasattr(stood.clock, "_store")
    cache.clear()
    assert not is_alive(CLOCK)
    stood.clock.tick()
    assert is_alive(CLOCK)
    assert not is_alive(health.JOBS)


@pytest.mark.pure
def test_a_job_without_work_is_sent_only_to_show_that_somebody_would_do_it(stood: Stood) -> None:
    while stood.now < 2 * health.SIGN_SECONDS:
        stood.now += stood.clock.tick()
    assert stood.sent.count("due") == stood.sent.count("dialogs") == 2
    stood.has_work = True
    stood.now += max(POLL_SECONDS, DIALOG_POLL_SECONDS)
    stood.clock.tick()
    assert len(stood.sent) == 6


def test_rows_tell_whether_a_job_has_work(db: None, settings: Any) -> None:
    assert settings.JOB_HAS_WORK.keys() == settings.CELERY_BEAT_SCHEDULE.keys()
    for name in settings.JOB_HAS_WORK:
        with CaptureQueriesContext(connection) as asked:
            assert health._has_work(ScheduleEntry(name=name, app=app)) is False
        assert len(asked) == 1, "the clock asks all day"


def test_a_job_is_sent_where_the_database_does_not_answer(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away() -> bool:
        raise OperationalError

    monkeypatch.setattr("tasks.jobs.has_open_dialogs", away)
    monkeypatch.setattr(health.connection, "close", lambda: None)
    assert health._has_work(ScheduleEntry(name="dialogs", app=app))
