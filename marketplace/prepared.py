"""Statements of the busiest paths: querysets and models turned into SQL once per process."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import cache, cached_property, lru_cache
from typing import Any, TypeVar

from django.db import connections
from django.db.models import DateTimeField, JSONField, Model, QuerySet
from django.db.models.base import ModelState
from django.db.models.expressions import Col

from marketplace.router import DATABASE

M = TypeVar("M", bound=Model)
# SQL that returns the rows it changed, and its values.
Change = tuple[str, list[Any]]
# Stands in the SQL of a change, after its other conditions, for what `chained` adds to them.
IF_SO = "/* if so */"
# Stands in SQL for the parameters left while the values that stay are written into it.
OPEN = "\x02"
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
        if connection.vendor == "postgresql":
            sql, places = _written_in(connection, sql, places)
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
        found = execute(*self.bound(**given))
        return [self.converted(row) for row in found] if self._compiled[2] else found

    def first(self, **given: Any) -> tuple[Any, ...] | None:
        """Return the first row for these parameters, or None."""
        found = self.rows(**given)
        return found[0] if found else None

    def bound(self, **given: Any) -> tuple[str, list[Any]]:
        """Return the statement and its values for these parameters."""
        sql, places, _ = self._compiled
        return sql, [given[place[0]] if type(place) is list else place for place in places]

    def converted(self, row: Sequence[Any]) -> tuple[Any, ...]:
        """Return a row of the statement as the queryset would give it."""
        connection, cells = connections[DATABASE], list(row)
        for place, converter, expression in self._compiled[2]:
            if cells[place] is not None:
                cells[place] = converter(cells[place], expression, connection)
        return tuple(cells)


def execute(sql: str, values: list[Any]) -> list[tuple[Any, ...]]:
    """Run one statement that returns rows, on the driver's own cursor, and return them.

    Django's cursor costs as much again as the statement, and adds a log that nobody reads here; its
    errors are kept. Raises django.db.Error.
    """
    connection = connections[DATABASE]
    if connection.connection is None:
        connection.ensure_connection()
    if connection.vendor == "sqlite":
        sql = _with_question_marks(sql)
        values = [_adapted(connection, value) for value in values]
    with connection.wrap_database_errors:
        cursor = connection.connection.cursor()
        cursor.execute(sql, values)
        found: list[tuple[Any, ...]] = cursor.fetchall()
        return found


@lru_cache(maxsize=1024)
def _with_question_marks(sql: str) -> str:
    # SQLite's driver knows no other places for parameters.
    return sql.replace("%s", "?").replace("%%", "%")


def _written_in(connection: Any, sql: str, places: list[Any]) -> tuple[str, list[Any]]:
    """Return SQL with every value that stays written into it, and the places of the others.

    PostgreSQL's driver quotes all values of a statement anew each time.
    """
    from psycopg2.extensions import AsIs

    connection.ensure_connection()
    open_places = [AsIs(OPEN) if type(place) is list else place for place in places]
    written = connection.connection.cursor().mogrify(sql, open_places).decode()
    sql = written.replace("%", "%%").replace(OPEN, "%s")
    return sql, [place for place in places if type(place) is list]


def instance_of(model: type[M], names: Sequence[str], row: Sequence[Any]) -> M:
    """Return the stored instance of a model with these columns; others are read when asked for.

    As `from_db` does, without the signals, to which nobody here listens: they cost most of it.
    """
    made = model.__new__(model)
    made._state = ModelState()
    made._state.adding, made._state.db = False, DATABASE
    made.__dict__.update(zip(names, row, strict=True))
    return made


def insert(row: Model) -> None:
    """Insert a new instance of a model without JSON columns and give it its key."""
    ((row.pk,),) = execute(*insertion(row))
    row._state.adding, row._state.db = False, DATABASE


def insertion(row: Model, instead: str = "", looked_up: str = "", *given: Any) -> Change:
    """Return the change that inserts a new instance of a model without JSON columns.

    looked_up: SQL of the value of the column `instead`, with the parameters given.
    """
    sql, before, after = _insertion(type(row), instead, looked_up)
    values = [getattr(row, name) for name in before]
    return sql, [*values, *given, *(getattr(row, name) for name in after)]


@cache
def _insertion(
    model: type[Model], instead: str, looked_up: str
) -> tuple[str, list[str], list[str]]:
    fields = [field for field in model._meta.concrete_fields if not field.primary_key]
    assert not any(isinstance(field, JSONField) for field in fields), f"{model} has JSON"
    names = [field.attname for field in fields]
    columns = ", ".join(str(field.column) for field in fields)
    places = ", ".join(looked_up if name == instead else "%s" for name in names)
    table = model._meta.db_table
    sql = f"INSERT INTO {table} ({columns}) SELECT {places} WHERE true {IF_SO} RETURNING id"
    place = names.index(instead) if instead else len(names)
    return sql, names[:place], names[place + 1 :]


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
