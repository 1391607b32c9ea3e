"""A queue that is stopped takes what it is told and never answers."""

import socket
from collections.abc import Iterator
from typing import Any

import pytest
from kombu.exceptions import OperationalError

from collector import celery
from collector.serving import health

pytestmark = pytest.mark.pure


@pytest.fixture
def silent() -> Iterator[str]:
    """Return the address of a Redis that lets everybody in and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"redis://127.0.0.1:{server.getsockname()[1]}/0"


def test_whoever_asks_is_told_that_it_does_not_answer(
    silent: str, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    monkeypatch.setattr(settings, "CELERY_BROKER_URL", silent)
    monkeypatch.setattr(health, "BROKER_SECONDS", 0.1)
    assert health._answers(health._ask_broker) is False


def test_a_process_asks_again_soon_however_long_it_was_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(celery, "LONGEST_RETRY_SECONDS", 0.02)
    pauses: list[float] = []
    connection = celery.app.connection_for_read("redis://127.0.0.1:1/0")
    with pytest.raises(OperationalError):
        connection.ensure_connection(lambda error, pause: pauses.append(pause), max_retries=8)
    assert len(pauses) == 8
    assert 0.01 <= max(pauses) <= 0.02
