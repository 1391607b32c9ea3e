"""The health page tells of each part whether it does its work."""

from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache
from django.db.backends.base.base import BaseDatabaseWrapper
from django.test import Client

from collector.serving import health

pytestmark = pytest.mark.django_db
PULSES = (health.CLOCK, health.JOBS, health.DIALOGS)
PARTS = {"database", "disk", "broker", *PULSES}


@pytest.fixture(autouse=True)
def _at_work(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything is well: embedded jobs run, and each part has given its sign."""
    settings.CELERY_BROKER_URL = "memory://localhost/"
    monkeypatch.setattr(health.jobs, "is_alive", lambda: True)
    for name in PULSES:
        health.record_beat(name)


def told(status: int) -> dict[str, bool]:
    """Return what the page says, whose status is as expected."""
    answer = Client(HTTP_HOST="localhost").get("/health")
    assert answer.status_code == status
    found: dict[str, bool] = answer.json()
    return found


def unwell() -> set[str]:
    """Return the parts that do not work, as the page says with 503."""
    return {name for name, is_well in told(503).items() if not is_well}


def test_it_is_well_while_every_part_answers() -> None:
    assert told(200) == dict.fromkeys(PARTS, True)


@pytest.mark.parametrize("name", PULSES)
def test_a_part_that_gives_no_sign_any_more_is_named(name: str) -> None:
    cache.delete(f"pulse:{name}")
    assert unwell() == {name}


def test_jobs_that_have_died_are_reported_to_whoever_asks_alone(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(health.jobs, "is_alive", lambda: False)
    assert unwell() == {"broker"}
    assert caplog.records == []


def test_a_broker_that_is_away_is_reported(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from collector.celery import app

    settings.CELERY_BROKER_URL = "redis://127.0.0.1:1/0"
    away = app.connection_for_write("redis://127.0.0.1:1/0", connect_timeout=1)
    monkeypatch.setattr(app, "connection_for_write", lambda **_: away)
    assert unwell() == {"broker"}


def test_a_database_that_is_away_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: object) -> None:
        raise OSError

    monkeypatch.setattr(BaseDatabaseWrapper, "cursor", refuse)
    assert unwell() == {"database"}


@pytest.mark.parametrize("broken", ["full", "nearly full", "gone"])
def test_a_disk_that_nothing_can_be_written_to_is_reported(
    broken: str, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    if broken == "gone":
        settings.HOME = settings.HOME / "nowhere"
    elif broken == "nearly full":
        monkeypatch.setattr(health, "LEAST_FREE_BYTES", 10**18)
    else:
        full = lambda dir: Path("/dev/full").open("wb")  # noqa: E731, SIM115
        monkeypatch.setattr(health.tempfile, "TemporaryFile", full)
    assert unwell() == {"disk"}
