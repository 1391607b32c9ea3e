"""The clock goes on whatever the machine's clock did, and says that it does."""

from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache

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
