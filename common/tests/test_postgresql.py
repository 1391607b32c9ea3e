"""A kept connection to PostgreSQL is used again without a question, while it is there."""

import time
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection as of_the_test
from django.db import connections

from common.postgresql import base
from common.prepared_sql import execute

pytestmark = pytest.mark.django_db


class Watched:
    """A connection of its own, as a thread keeps one, and what it was asked."""

    def __init__(self, wrapper: Any) -> None:
        self.wrapper = wrapper
        self.n_questions = 0

    def next_request(self) -> int:
        """Check the connection as at the beginning of a request and return the server's process."""
        self.wrapper.close_if_unusable_or_obsolete()
        self.wrapper.close_if_health_check_failed()
        with self.wrapper.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            return int(cursor.fetchone()[0])


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> Iterator[Watched]:
    if of_the_test.vendor != "postgresql":
        pytest.skip("SQLite is a file, which does not go away")
    wrapper = connections.create_connection("default")
    wrapper.settings_dict = {**wrapper.settings_dict, "CONN_HEALTH_CHECKS": True}
    watched = Watched(wrapper)
    asked = base.base.DatabaseWrapper.is_usable

    def ask(self: Any) -> bool:
        watched.n_questions += 1
        return bool(asked(self))

    monkeypatch.setattr(base.base.DatabaseWrapper, "is_usable", ask)
    yield watched
    wrapper.close()


def test_a_connection_used_lately_is_not_asked_whether_it_is_there(kept: Watched) -> None:
    assert len({kept.next_request() for _ in range(5)}) == 1
    assert kept.n_questions == 1


def test_a_connection_that_was_closed_meanwhile_is_replaced(kept: Watched) -> None:
    kept.next_request()
    before = kept.next_request()
    execute("SELECT pg_terminate_backend(%s::integer)", [before])
    deadline = time.monotonic() + 10
    while kept.wrapper._is_silent() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert kept.next_request() != before


def test_a_connection_that_was_idle_is_asked(
    kept: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(2):
        kept.next_request()
    monkeypatch.setattr(base, "LATELY_SECONDS", 0.0)
    kept.next_request()
    assert kept.n_questions == 2


def test_a_connection_on_which_something_failed_is_asked(kept: Watched) -> None:
    for _ in range(2):
        kept.next_request()
    kept.wrapper.errors_occurred = True
    kept.next_request()
    assert kept.n_questions == 2
