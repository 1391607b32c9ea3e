"""The clock goes on whatever the machine's clock did, and says that it does."""

from datetime import timedelta
from typing import Any

import pytest
from celery.beat import ScheduleEntry, Scheduler
from django.core.cache import cache
from django.db import OperationalError

from collector.celery import app
from collector.serving import liveness
from collector.serving.liveness import CLOCK, Clock, is_alive
from collector.settings import DIALOG_POLL_SECONDS, POLL_SECONDS


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Return a clock that sends nothing."""
    made = Clock(app, lazy=True)
    monkeypatch.setattr(made, "apply_entry", lambda entry, **_: None)
    made.setup_schedule()
    return made


@pytest.mark.pure
def test_a_clock_that_is_set_back_puts_nothing_off(clock: Clock) -> None:
    names = set(clock.schedule)
    assert names == {"due", "dialogs"}
    clock.tick()
    # What was sent, and what is to come, was noted a year from now.
    for entry in clock.schedule.values():
        entry.last_run_at += timedelta(days=365)
    clock._heap = [each._replace(time=each.time + 365 * 24 * 3600) for each in clock._heap]
    assert clock.tick() <= DIALOG_POLL_SECONDS
    longest = max(POLL_SECONDS, DIALOG_POLL_SECONDS)
    assert all(each.time <= clock._when(each.entry, longest) for each in clock._heap)


@pytest.mark.pure
def test_it_keeps_no_file_and_gives_a_sign(clock: Clock, settings: Any) -> None:
    assert settings.CELERY_BEAT_SCHEDULER == "collector.serving.liveness:Clock"
    assert not hasattr(clock, "_store")
    cache.clear()
    assert not is_alive(CLOCK)
    clock.tick()
    assert is_alive(CLOCK)
    assert not is_alive(liveness.JOBS)


@pytest.mark.pure
def test_a_job_without_work_is_sent_only_to_show_that_somebody_would_do_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made, sent, has_work, now = Clock(app, lazy=True), [], [False], [0.0]
    monkeypatch.setattr(Scheduler, "apply_entry", lambda self, entry, producer: sent.append(entry))
    monkeypatch.setattr(liveness, "_has_work", lambda entry: has_work[0])
    monkeypatch.setattr(liveness, "monotonic", lambda: now[0])
    entry = ScheduleEntry(name="dialogs", app=app)
    for now[0] in range(0, 2 * int(liveness.SIGN_SECONDS), 2):
        made.apply_entry(entry)
    assert len(sent) == 2
    has_work[0] = True
    made.apply_entry(entry)
    assert len(sent) == 3


def test_rows_tell_whether_a_job_has_work(db: None, settings: Any) -> None:
    assert settings.JOB_HAS_WORK.keys() == settings.CELERY_BEAT_SCHEDULE.keys()
    for name in settings.JOB_HAS_WORK:
        assert liveness._has_work(ScheduleEntry(name=name, app=app)) is False


def test_a_job_is_sent_where_the_database_does_not_answer(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away() -> bool:
        raise OperationalError

    monkeypatch.setattr("tasks.jobs.has_open_dialogs", away)
    monkeypatch.setattr(liveness.connection, "close", lambda: None)
    assert liveness._has_work(ScheduleEntry(name="dialogs", app=app))
