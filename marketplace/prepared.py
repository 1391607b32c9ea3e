"""Statements of the busiest paths: querysets and models turned into SQL once per process."""

from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache, cached_property, lru_cache
from typing import Any

from django.db import connections
from django.db.models import DateTimeField, JSONField, Model, QuerySet
from django.db.models.expressions import Col

from marketplace.router import DATABASE

# What stands for a parameter while the SQL is made; no row has these values.
STAND_INS: dict[type, Callable[[int], Any]] = {
    str: lambda n: f"\x01{n}",
    int: lambda n: -(10**15) - n,
    datetime: lambda n: datetime(9990 - n, 1, 1, tzinfo=UTC),
}


class Prepared:
    """A `values_list` queryset whose filters are parameters: `build` gets stand-ins by name.

    `rows(name=value, …)` runs it and yields tuples, as the queryset would.
    """

    def __init__(self, build: Callable[..., QuerySet[Any, Any]], **kinds: type) -> None:
        self._build = build
        self._kinds = kinds

    @cached_property
    def _compiled(self) -> tuple[str, list[Any], list[tuple[int, Any, Any]]]:
        connection = connections[DATABASE]
        stand_ins = {name: STAND_INS[kind](n) for n, (name, kind) in enumerate(self._kinds.items())}
        compiler = self._build(**stand_ins).query.get_compiler(using=DATABASE)
        sql, values = compiler.as_sql()
        adapted = {_adapted(connection, value): name for name, value in stand_ins.items()}
        # A parameter's place holds its name in a list of one; anything else stays as it is.
        places = [[adapted[value]] if value in adapted else value for value in values]
        assert sum(isinstance(place, list) for place in places) >= len(stand_ins)
        columns = [expression for expression, *_ in compiler.select]
        converters = [
            (place, converter, expression)
            for place, (found, expression) in compiler.get_converters(columns).items()
            for converter in found
        ]
        if connection.vendor == "sqlite":
            converters = [_quicker(*one) for one in converters]
        return sql, places, converters

    def rows(self, **given: Any) -> list[tuple[Any, ...]]:
        """Return the rows for these parameters, in one statement."""
        sql, places, converters = self._compiled
        values = [given[place[0]] if type(place) is list else place for place in places]
        found = execute(sql, values)
        if not converters:
            return found
        connection = connections[DATABASE]
        return [_converted(row, converters, connection) for row in found]

    def first(self, **given: Any) -> tuple[Any, ...] | None:
        """Return the first row for these parameters, or None."""
        found = self.rows(**given)
        return found[0] if found else None


def execute(sql: str, values: list[Any]) -> list[tuple[Any, ...]]:
    """Run one statement that returns rows, on the driver's own cursor, and return them.

    Django's cursor costs as much again as the statement, and adds a log that nobody reads here; its
    errors are kept. Raises django.db.Error.
    """
    connection = connections[DATABASE]
    connection.ensure_connection()
    if connection.vendor == "sqlite":
        sql = _with_question_marks(sql)
    with connection.wrap_database_errors:
        cursor = connection.connection.cursor()
        cursor.execute(sql, [_adapted(connection, value) for value in values])
        found: list[tuple[Any, ...]] = cursor.fetchall()
        return found


@lru_cache(maxsize=1024)
def _with_question_marks(sql: str) -> str:
    # SQLite's driver knows no other places for parameters.
    return sql.replace("%s", "?").replace("%%", "%")


def _converted(row: tuple[Any, ...], converters: Any, connection: Any) -> tuple[Any, ...]:
    cells = list(row)
    for place, converter, expression in converters:
        if cells[place] is not None:
            cells[place] = converter(cells[place], expression, connection)
    return tuple(cells)


def insert(row: Model) -> None:
    """Insert a new instance of a model without JSON columns and give it its key."""
    sql, names = _insertion(type(row))
    ((row.pk,),) = execute(sql, [getattr(row, name) for name in names])
    row._state.adding, row._state.db = False, DATABASE


@cache
def _insertion(model: type[Model]) -> tuple[str, list[str]]:
    fields = [field for field in model._meta.concrete_fields if not field.primary_key]
    assert not any(isinstance(field, JSONField) for field in fields), f"{model} has JSON"
    columns, places = (
        ", ".join(str(field.column) for field in fields),
        ", ".join(["%s"] * len(fields)),
    )
    table = model._meta.db_table
    sql = f"INSERT INTO {table} ({columns}) VALUES ({places}) RETURNING id"
    return sql, [field.attname for field in fields]


def _adapted(connection: Any, value: Any) -> Any:
    if isinstance(value, datetime):
        return connection.ops.adapt_datetimefield_value(value)
    return value


def _quicker(place: int, converter: Any, expression: Any) -> tuple[int, Any, Any]:
    # SQLite's driver has made a naive time of UTC already; Django looks at it four times more.
    if isinstance(expression, Col) and isinstance(expression.output_field, DateTimeField):
        return place, lambda value, expression, connection: value.replace(tzinfo=UTC), expression
    return place, converter, expression


def fields_of(model: Any, before: str = "") -> list[str]:
    """Return the names for `values_list` of all columns of a model, reached through `before`."""
    return [before + field.attname for field in model._meta.concrete_fields]
