"""Takes the databases away from a test's pages, as a server that has gone does."""

import psycopg2
import pytest
from django.db import OperationalError, connections
from django.db.backends.base.base import BaseDatabaseWrapper

LOST = "server closed the connection unexpectedly"


def take_databases_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every question to a database fail until the patch is undone."""

    def fail(*given: object) -> None:
        raise OperationalError(LOST) from psycopg2.OperationalError(LOST)

    # Prepared queries ask whether the connection is well, and go to the driver themselves.
    for way in ("cursor", "ensure_connection", "close_if_health_check_failed"):
        monkeypatch.setattr(BaseDatabaseWrapper, way, fail)
    for connection in connections.all(initialized_only=True):
        monkeypatch.setattr(connection, "cursor", fail)
