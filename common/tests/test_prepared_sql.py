"""Statements by hand answer alike on every database, and are seen by whoever counts them."""

from datetime import UTC, datetime
from typing import Any

import pytest
from django.contrib.contenttypes.models import ContentType
from django.db import DatabaseError, IntegrityError, connection, transaction

from common.prepared_sql import (
    JoinedQuery,
    PreparedQuery,
    Table,
    change,
    execute,
    fields_of,
    insert,
    insert_all,
)

pytestmark = pytest.mark.django_db
TABLE = ContentType._meta.db_table
NOW = datetime(2026, 5, 17, 12, 30, 1, 250_000, tzinfo=UTC)


def make(*models: str) -> None:
    """Store content types of the app `lab`."""
    insert_all(ContentType, {"app_label": "lab"}, [{"model": model} for model in models])


def test_values_have_a_place_or_a_name() -> None:
    make("flask", "50 % %s")
    assert execute(
        f"SELECT model FROM {TABLE} WHERE app_label = %s AND model LIKE '50 %%'", ["lab"]
    ) == [("50 % %s",)]
    assert (
        change(
            f"UPDATE {TABLE} SET model = %(to)s WHERE app_label = %(of)s AND model = %(was)s",
            of="lab",
            was="flask",
            to="jar",
        )
        == 1
    )
    assert execute(f"SELECT count(*) FROM {TABLE} WHERE model = %(name)s", {"name": "jar"}) == [
        (1,)
    ]


def test_new_rows_have_their_keys() -> None:
    rows = [ContentType(app_label="lab", model=model) for model in ("flask", "jar")]
    insert(*rows)
    assert not rows[0]._state.adding
    assert [ContentType.objects.get(pk=row.pk).model for row in rows] == ["flask", "jar"]


def test_a_row_that_is_there_is_left_out() -> None:
    make("flask")
    own = [{"model": "flask"}, {"model": "jar"}]
    assert insert_all(ContentType, {"app_label": "lab"}, own, unless="app_label, model") == 1
    assert insert_all(ContentType, {"app_label": "lab"}, []) == 0
    with pytest.raises(IntegrityError), transaction.atomic():
        make("flask")


def test_errors_are_djangos() -> None:
    with pytest.raises(DatabaseError), transaction.atomic():
        execute("SELECT nothing FROM nowhere WHERE id = %s", [1])


def test_a_prepared_query_gives_what_its_queryset_gives() -> None:
    make("flask", "jar")

    def build(label: str, least: int) -> Any:
        rows = ContentType.objects.filter(app_label=label, pk__gte=least, model__contains="a")
        return rows.order_by("pk").values_list(*fields_of(ContentType))

    prepared = PreparedQuery(build, label=str, least=int)
    assert prepared.rows(label="lab", least=0) == list(build("lab", 0))
    assert prepared.first(label="lab", least=0) == build("lab", 0)[0]
    assert prepared.first(label="nobody", least=0) is None


def test_a_prepared_query_whose_parameter_leads_nowhere_is_refused() -> None:
    query = PreparedQuery(lambda label: ContentType.objects.values_list("pk"), label=str)
    with pytest.raises(AssertionError):
        query.rows(label="lab")


def test_a_join_gives_instances() -> None:
    make("flask")
    query = JoinedQuery(
        Table("kind", ContentType, "id model"),
        Table("other", ContentType, "id model", "other.model = 'none'", optional=True),
        plain=("kind.app_label",),
    )
    found = query.first("kind.app_label = %(label)s", label="lab")
    assert found
    kind, other, label = found
    assert (kind.model, other, label) == ("flask", None, "lab")
    # What was not read is fetched when it is asked for.
    assert kind.app_label == "lab"
    kind.model = "jar"
    kind.save()
    assert ContentType.objects.get(pk=kind.pk).model == "jar"
    assert query.first("kind.app_label = %(label)s", label="nobody") is None


def test_times_and_json_are_stored_as_columns_take_them() -> None:
    kind = {"postgresql": ("timestamptz", "jsonb")}.get(connection.vendor, ("datetime", "text"))
    execute_script = "CREATE TEMPORARY TABLE kept (at {} NOT NULL, given {} NOT NULL)"
    with connection.cursor() as cursor:
        cursor.execute(execute_script.format(*kind))
    assert change("INSERT INTO kept VALUES (%(at)s, %(given)s)", at=NOW, given={"a": [1]}) == 1
    assert execute("SELECT given FROM kept WHERE at = %s", [NOW]) == [('{"a": [1]}',)]


def test_whoever_counts_statements_sees_them(django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(2):
        execute("SELECT %s", [1])
        change(f"UPDATE {TABLE} SET model = model WHERE model = %(name)s", name="none")
