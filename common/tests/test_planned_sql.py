"""PostgreSQL plans a statement once for a connection, whatever becomes of its first run."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.contenttypes.models import ContentType
from django.db import IntegrityError, connection, transaction

from common import prepared_sql
from common.prepared_sql import change, execute

pytestmark = pytest.mark.django_db
TABLE = ContentType._meta.db_table
ADD = f"INSERT INTO {TABLE} (app_label, model) VALUES ('lab', %(model)s)"


@pytest.fixture(autouse=True)
def _on_postgresql(db: Any) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite's driver keeps statements by itself")


def n_prepared(ending: str) -> int:
    """Return how many statements with this ending the connection has prepared."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_prepared_statements WHERE strpos(statement, %s) > 0", [ending]
        )
        return int(cursor.fetchone()[0])


def test_a_statement_is_planned_once_and_answers_alike() -> None:
    sql = "SELECT %s + 1, 'a %%', %s /* planned once */"
    assert execute(sql, [1, "x"]) == [(2, "a %", "x")]
    assert execute(sql, [2**40, "%s"]) == [(2**40 + 1, "a %", "%s")]
    assert n_prepared("planned once */") == 1


def test_a_value_is_of_its_own_type() -> None:
    now = datetime(2026, 5, 17, tzinfo=UTC)
    sql = "SELECT %(now)s - %(long)s, %(is)s, %(n)s < %(n)s + 1"
    values = {"now": now, "long": timedelta(days=1), "is": True, "n": 3}
    assert execute(sql, values) == [(now - timedelta(days=1), True, True)] == execute(sql, values)


def test_a_first_run_that_fails_leaves_the_statement_good() -> None:
    assert change(ADD, model="jar") == 1
    prepared_sql._prepared.clear()
    for _ in range(2):
        with pytest.raises(IntegrityError), transaction.atomic():
            change(ADD, model="jar")
    assert [change(ADD, model=model) for model in ("flask", "spoon")] == [1, 1]


def test_the_least_used_are_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepared_sql, "MOST", 2)
    prepared_sql._prepared.clear()
    for name in ("one", "two", "one", "three", "one"):
        assert execute(f"SELECT %s /* kept: {name} */", [1]) == [(1,)]
    assert [n_prepared(f"kept: {name} ") for name in ("one", "two", "three")] == [1, 0, 1]


def test_several_statements_are_one_message_and_one_transaction() -> None:
    read = f"SELECT model FROM {TABLE} WHERE app_label = 'lab' AND model > %s ORDER BY model"
    assert change(ADD, before=[(ADD, {"model": "jar"})], model="pan") == 1
    assert execute(read, [""]) == [("jar",), ("pan",)]
    with pytest.raises(IntegrityError), transaction.atomic():
        change(ADD, before=[(ADD, {"model": "cup"})], model="jar")
    with pytest.raises(IntegrityError), transaction.atomic():
        change(ADD, before=[(ADD, {"model": "jar"})], model="cup")
    assert execute(read, [""]) == [("jar",), ("pan",)]
