"""SQL for what happens with every page, call and word a worker writes; everything else asks Django.

Django builds a query anew each time, which takes several times as long as running it. What is here
is built once per process, planned once per connection (`run_planned`), runs on the driver's
own cursor, and works on PostgreSQL (psycopg2) and SQLite alike. A statement is written with `%s` or
`%(name)s` for its values. There are four ways:

* `PreparedQuery`: a `values_list` queryset that Django turns into SQL once.
* `JoinedQuery`: a join by hand whose rows become instances, as with `select_related`.
* `insert`, `insert_all`, `update`: new rows, with or without instances of them, and changed ones.
* `execute`, `change`: any other statement, for the rows it returns or the number it changed.

The database is the one that the router names for a model; where no model is given, `using` is.
"""

import json
import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache, cached_property, lru_cache
from itertools import chain, count
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from django.db import DEFAULT_DB_ALIAS, connections, router, transaction
from django.db.models import DateTimeField, Field, Model, QuerySet
from django.db.models.base import ModelState
from django.db.models.expressions import Col

M = TypeVar("M", bound=Model)
R = TypeVar("R")
Row = tuple[Any, ...]
# A column's place in a row, what turns its value into the field's, and the column.
Converter = tuple[int, Any, Any]
# Stands in SQL for the parameters left while the values that stay are written into it.
OPEN = "\x02"
# What stands for a parameter while the SQL is made; no row has these values.
STAND_INS: dict[type, Callable[[int], Any]] = {
    str: lambda n: f"\x01{n}",
    # Within the bounds of an integer column: of what lies outside, Django knows the answer.
    int: lambda n: 2_147_000_000 + n,
    datetime: lambda n: datetime(9990 - n, 1, 1, tzinfo=UTC),
}
# What every column of such a value takes as it is.
PLAIN = frozenset((str, int, bool, float, datetime, type(None)))
NAMED = re.compile(r"%\((\w+)\)s")
Values = Sequence[Any] | Mapping[str, Any]
# SQL and its values.
Statement = tuple[str, Values]
Statements = Sequence[Statement]
# Statements that stay prepared on a connection; what happens all day takes about a hundred.
MOST = 256
PLACE = re.compile(r"%\((\w+)\)s|%s")
# What PostgreSQL does not always see by a value's place, as it would by the value.
TYPES = {bool: "boolean", int: "bigint", datetime: "timestamptz", timedelta: "interval"}

# The names of the statements that a connection has prepared, by their SQL; the last used is last.
_prepared: WeakKeyDictionary[Any, OrderedDict[str, str]] = WeakKeyDictionary()
_numbers = count()


def execute(sql: str, values: Values = (), using: str = DEFAULT_DB_ALIAS) -> list[Row]:
    """Run one statement that returns rows, and return them; JSON is text on every database.

    Raises django.db.Error.
    """
    return _run([(sql, values)], using, _fetched)


def change(
    sql: str, /, using: str = DEFAULT_DB_ALIAS, before: Statements = (), **values: Any
) -> int:
    """Run one statement with its %(named)s values and return how many rows it changed.

    Dictionaries and lists are stored as JSON. before: statements that run before it; PostgreSQL is
    sent all of them at once, which takes as long as to send one. Raises django.db.Error.
    """
    stored = {name: _stored(value) for name, value in values.items()}
    return _run([*before, (sql, stored)], using, _counted)


def insert(*new: Model, before: Statements = ()) -> None:
    """Insert new instances of one model, by one statement, and give them their keys.

    before: as in `change`.
    """
    model = type(new[0])
    columns, names = _columns(model)
    values = [[getattr(row, name) for name in names] for row in new]
    statement = _inserting(model, columns, values)
    keys = _run([*before, statement], _database(model), _fetched)
    for row, (key,) in zip(new, keys, strict=True):
        row.pk = key
        row._state.adding, row._state.db = False, _database(model)


def update(row: Model) -> None:
    """Write every column of a stored instance, by one statement; all of them must be loaded."""
    model = type(row)
    _, names = _columns(model)
    values = _all_stored([*(getattr(row, name) for name in names), row.pk])
    _run([(_update(model), values)], _database(model), _counted)


def insert_all(
    model: type[Model], shared: dict[str, Any], own: Sequence[dict[str, Any]], *, unless: str = ""
) -> int:
    """Insert rows without making instances of them and return how many were.

    shared: the columns that are equal in all; own: each row's others, alike in their order.
    Together they name every column of the model but its key.
    unless: columns, such as "stage_id, key"; a row equal to another in all of them is left out.
    """
    if not own:
        return 0
    values = [[*shared.values(), *row.values()] for row in own]
    statement = _inserting(model, ", ".join([*shared, *own[0]]), values, unless)
    return len(_run([statement], _database(model), _fetched))


def inserting(row: Model) -> Statement:
    """Return the statement that inserts a new instance, to run before another of its database."""
    model = type(row)
    columns, names = _columns(model)
    return _inserting(model, columns, [[getattr(row, name) for name in names]])


def locking(tables: str, *, skip: bool = False, using: str = DEFAULT_DB_ALIAS) -> str:
    """Return the end of a SELECT whose rows of these tables, by alias, stay locked.

    skip: leave out rows that somebody else holds, instead of waiting for them. A transaction that
    writes locks all of SQLite.
    """
    if not connections[using].features.has_select_for_update:
        return ""
    return f" FOR NO KEY UPDATE OF {tables}" + (" SKIP LOCKED" if skip else "")


def given_rows(*columns: str, using: str = DEFAULT_DB_ALIAS) -> str:
    """Return a SELECT of rows that are passed as lists, one for each column: "name type".

    The values of the statement hold each list by its column's name.
    """
    names = [column.split()[0] for column in columns]
    if connections[using].vendor == "postgresql":
        lists = ", ".join("%({})s::{}[]".format(*column.split()) for column in columns)
        return f"SELECT * FROM unnest({lists}) AS given ({', '.join(names)})"
    first, *others = names
    further = "".join(
        f", json_extract(%({name})s, '$[' || given.key || ']') AS {name}" for name in others
    )
    return f"SELECT given.value AS {first}{further} FROM json_each(%({first})s) given"


class PreparedQuery:
    """A `values_list` queryset whose filters are parameters: `build` gets stand-ins by name.

    kinds: the type of each parameter, one of STAND_INS. `rows(name=value, …)` runs it and returns
    what the queryset would.
    """

    def __init__(self, build: "Callable[..., QuerySet[Any, Any]]", **kinds: type) -> None:
        self._build = build
        self._kinds = kinds

    @cached_property
    def _compiled(self) -> tuple[str, list[Any], list[Converter], str]:
        stand_ins = {name: STAND_INS[kind](n) for n, (name, kind) in enumerate(self._kinds.items())}
        queryset = self._build(**stand_ins)
        connection = connections[queryset.db]
        compiler = queryset.query.get_compiler(using=queryset.db)
        sql, values = compiler.as_sql()
        adapted = {_adapted(connection, value): name for name, value in stand_ins.items()}
        # A parameter's place holds its name in a list of one; anything else stays as it is.
        places = [[adapted[value]] if value in adapted else value for value in values]
        assert {place[0] for place in places if isinstance(place, list)} == set(stand_ins)
        if connection.vendor == "postgresql":
            sql, places = _written_in(connection, sql, places)
        columns = [expression for expression, *_ in compiler.select]
        return sql, places, _converters(connection, columns), queryset.db

    def rows(self, **given: Any) -> list[Row]:
        """Return the rows for these parameters, in one statement."""
        _, _, converters, using = self._compiled
        found = execute(*self.bound(**given), using)
        return [self.converted(row) for row in found] if converters else found

    def first(self, **given: Any) -> Row | None:
        """Return the first row for these parameters, or None."""
        found = self.rows(**given)
        return found[0] if found else None

    def bound(self, **given: Any) -> tuple[str, list[Any]]:
        """Return the statement and its values for these parameters."""
        sql, places, *_ = self._compiled
        return sql, [given[place[0]] if type(place) is list else place for place in places]

    def converted(self, row: Sequence[Any]) -> Row:
        """Return a row of the statement as the queryset would give it."""
        _, _, converters, using = self._compiled
        return tuple(_convert(list(row), converters, connections[using]))


@dataclass(frozen=True)
class Table:
    """One table of a join: its model, the columns to read, and how it hangs on earlier ones.

    names: of the columns, "*" for all.
    optional: there may be no such row; the instance is None then.
    is_given: the rows are those that the WITH before the join calls by the alias.
    """

    alias: str
    model: type[Model]
    names: str
    on: str = ""
    optional: bool = False
    is_given: bool = False

    @cached_property
    def fields(self) -> "list[Field[Any, Any]]":
        """Return the model's fields that are read, in the model's own order."""
        if self.names == "*":
            return list(self.model._meta.concrete_fields)
        wanted = self.names.split()
        found = [field for field in self.model._meta.concrete_fields if field.attname in wanted]
        assert len(found) == len(wanted), f"{self.model} lacks one of {wanted}"
        return found

    @property
    def source(self) -> str:
        """Return the table's place in the FROM clause."""
        table = self.alias if self.is_given else f"{self.model._meta.db_table} {self.alias}"
        if not self.on:
            return table
        return f"{'LEFT JOIN' if self.optional else 'JOIN'} {table} ON {self.on}"


class JoinedQuery:
    """A join whose rows become instances, one for each table, as with `select_related`.

    Columns that are not named are fetched when they are asked for. `plain` are columns that stay
    as the database gives them: JSON as text. `joined` are tables that only those come from.
    `before` is a WITH, and what it defines.

    lock: the tables whose rows stay locked until the transaction ends, by their aliases; with
    `skip`, rows that somebody else holds are left out instead of waited for.
    """

    def __init__(
        self,
        *tables: Table,
        plain: tuple[str, ...] = (),
        joined: str = "",
        before: str = "",
        lock: str = "",
        skip: bool = False,
    ) -> None:
        self.tables = tables
        self.plain = plain
        self.joined = joined
        self.before = before
        self.lock = lock
        self.skip = skip

    @cached_property
    def sql(self) -> str:
        """Return the statement up to its WHERE."""
        columns = [
            f"{table.alias}.{field.column}" for table in self.tables for field in table.fields
        ] + [f"{name} AS plain_{number}" for number, name in enumerate(self.plain)]
        sources = " ".join(table.source for table in self.tables)
        return f"{self.before} SELECT {', '.join(columns)} FROM {sources} {self.joined}"

    @cached_property
    def _using(self) -> str:
        return _database(self.tables[0].model)

    @cached_property
    def _locking(self) -> str:
        """Return the statement's end."""
        return locking(self.lock, skip=self.skip, using=self._using) if self.lock else ""

    @cached_property
    def _conversions(self) -> list[Converter]:
        columns = [field.get_col(table.alias) for table in self.tables for field in table.fields]
        return _converters(connections[self._using], columns)

    def first(self, where: str, before: Statements = (), **values: Any) -> list[Any] | None:
        """Return the instances and the plain values of the first row, or None without one.

        before: as in `change`; what they have waited for is seen.
        """
        sql = f"{self.sql} WHERE {where} LIMIT 1{self._locking}"
        found = _run([*before, (sql, values)], self._using, _fetched)
        return list(self._instances(found[0], {})) if found else None

    def all(self, where: str, before: Statements = (), **values: Any) -> list[list[Any]]:
        """Return the instances and the plain values of every row.

        A table's row that is the same in several lines is the same instance in all of them.
        before: as in `first`.
        """
        made: dict[tuple[str, Any], Any] = {}
        sql = f"{self.sql} WHERE {where}{self._locking}"
        found = _run([*before, (sql, values)], self._using, _fetched)
        return [list(self._instances(row, made)) for row in found]

    @cached_property
    def _slices(self) -> list[tuple[Table, list[str], int]]:
        """Return the tables with the names of their values and the position of the first."""
        found, start = [], 0
        for table in self.tables:
            found.append((table, [field.attname for field in table.fields], start))
            start += len(table.fields)
        return found

    def _instances(self, row: Row, made: dict[tuple[str, Any], Any]) -> Iterator[Any]:
        """Yield a line's instances, which begin with their keys, and its plain values.

        made: the instances of the lines before, by the table's alias and their keys.
        """
        cells: Sequence[Any] = row
        if self._conversions:
            cells = _convert(list(row), self._conversions, connections[self._using])
        end = 0
        for table, names, start in self._slices:
            end = start + len(names)
            key = table.alias, cells[start]
            if key not in made:
                absent = table.optional and cells[start] is None
                made[key] = None if absent else instance_of(table.model, names, cells[start:end])
            yield made[key]
        yield from cells[end:]


def instance_of(model: type[M], names: Iterable[str], row: Iterable[Any]) -> M:
    """Return the stored instance of a model with these columns; others are read when asked for.

    As `from_db` does, without the signals, to which nobody here listens: they cost most of it.
    """
    made = model.__new__(model)
    made._state = ModelState()
    made._state.adding, made._state.db = False, _database(model)
    made.__dict__.update(zip(names, row, strict=True))
    return made


def relate(row: Model, **others: Model) -> None:
    """Tell an instance which instances its foreign keys lead to, which nobody checks."""
    row._state.fields_cache.update(others)


def fields_of(model: Any, before: str = "") -> list[str]:
    """Return the names for `values_list` of all columns of a model, reached through `before`."""
    return [before + field.attname for field in model._meta.concrete_fields]


def _run(statements: Statements, using: str, take: Callable[[Any], R]) -> R:
    """Run statements and return what `take` takes from the cursor of the last one.

    Django's own cursor costs as much again as the statement: it is used only where somebody counts
    or refuses statements.
    """
    connection = connections[using]
    if connection.queries_logged or connection.execute_wrappers:
        is_open = connection.in_atomic_block or len(statements) == 1
        together = nullcontext() if is_open else transaction.atomic(using)
        with together, connection.cursor() as watched:
            for sql, values in statements:
                watched.execute(sql, _all_adapted(connection, values))
            return take(watched)
    connection.close_if_health_check_failed()
    if connection.connection is None:
        connection.ensure_connection()
    with connection.wrap_database_errors:
        if connection.vendor == "postgresql":
            return take(run_planned(connection.connection, *statements))
        cursor = connection.connection.cursor()
        for sql, values in statements:
            cursor.execute(_in_sqlites_way(sql), _all_adapted(connection, values))
        return take(cursor)


def _fetched(cursor: Any) -> list[Row]:
    return list(cursor.fetchall())


def _counted(cursor: Any) -> int:
    return int(cursor.rowcount)


@lru_cache(maxsize=1024)
def _in_sqlites_way(sql: str) -> str:
    """Return a statement with the places that SQLite's driver knows: `?` and `:name`."""
    return NAMED.sub(r":\1", sql).replace("%s", "?").replace("%%", "%")


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


def _converters(connection: Any, columns: Sequence[Any]) -> list[Converter]:
    """Return what this database needs to turn these columns into their fields' values."""
    found = [
        (place, converter, column)
        for place, column in enumerate(columns)
        for converter in (
            *connection.ops.get_db_converters(column),
            *column.get_db_converters(connection),
        )
    ]
    return [_quicker(*one) for one in found] if connection.vendor == "sqlite" else found


def _quicker(place: int, converter: Any, column: Any) -> Converter:
    # SQLite's driver has made a naive time of UTC already; Django looks at it four times more.
    if isinstance(column, Col) and isinstance(column.output_field, DateTimeField):
        return place, lambda value, expression, connection: value.replace(tzinfo=UTC), column
    return place, converter, column


def _convert(cells: list[Any], converters: list[Converter], connection: Any) -> list[Any]:
    for place, converter, column in converters:
        if cells[place] is not None:
            cells[place] = converter(cells[place], column, connection)
    return cells


@cache
def _database(model: type[Model]) -> str:
    return router.db_for_write(model)


@cache
def _columns(model: type[Model]) -> tuple[str, list[str]]:
    """Return the columns of a model without its key, and the names of their values."""
    fields = [field for field in model._meta.concrete_fields if not field.primary_key]
    return ", ".join(str(field.column) for field in fields), [field.attname for field in fields]


@cache
def _update(model: type[Model]) -> str:
    columns, _ = _columns(model)
    places = ", ".join(f"{column} = %s" for column in columns.split(", "))
    return f"UPDATE {model._meta.db_table} SET {places} WHERE id = %s"


def _inserting(
    model: type[Model], columns: str, values: Sequence[Sequence[Any]], unless: str = ""
) -> Statement:
    places = f"({', '.join(['%s'] * len(values[0]))})"
    return (
        f"INSERT INTO {model._meta.db_table} ({columns})"
        f" VALUES {', '.join([places] * len(values))}"
        + (f" ON CONFLICT ({unless}) DO NOTHING" if unless else "")
        + " RETURNING id",
        _all_stored(chain.from_iterable(values)),
    )


def _all_stored(values: Iterable[Any]) -> list[Any]:
    """Return `_stored` of each value; to call it for all of them takes three times as long."""
    return [value if type(value) in PLAIN else _stored(value) for value in values]


def _stored(value: Any) -> Any:
    """Return a field's value as its column takes it: dictionaries and lists are JSON."""
    return json.dumps(value) if isinstance(value, dict | list) else value


def _all_adapted(connection: Any, values: Values) -> Values:
    if isinstance(values, Mapping):
        return {name: _adapted(connection, value) for name, value in values.items()}
    return [_adapted(connection, value) for value in values]


def _adapted(connection: Any, value: Any) -> Any:
    """Return a value as the database's driver takes it; SQLite's knows no lists."""
    if isinstance(value, datetime):
        return connection.ops.adapt_datetimefield_value(value)
    if isinstance(value, list) and connection.vendor == "sqlite":
        return json.dumps(value)
    return value


def run_planned(connection: Any, *statements: Statement) -> Any:
    """Return a cursor of the driver's connection on which the last statement has run.

    Those before it run before, in the same message: all are one transaction where none is open.
    Only one that is alone may have no values. Raises the driver's errors.
    """
    cursor = connection.cursor()
    if not statements[-1][1]:
        cursor.execute(*statements[-1])
        return cursor
    prepared = _prepared.setdefault(connection, OrderedDict())
    new: dict[str, str] = {}
    messages: list[str] = []
    given: list[Any] = []
    for statement, values in statements:
        text, names = _numbered(statement)
        own = [values[name] for name in names] if isinstance(values, Mapping) else values
        name = prepared.get(statement)
        if name:
            prepared.move_to_end(statement)
        else:
            name = new[statement] = f"planned_{next(_numbers)}"
            types = ", ".join(TYPES.get(type(value), "unknown") for value in own)
            messages.append(f"PREPARE {name} ({types}) AS {text}")
            if len(prepared) >= MOST:
                messages.append(f"DEALLOCATE {prepared.popitem(last=False)[1]}")
        messages.append(_execute(name, len(own)))
        given += own
    cursor.execute("; ".join(messages), given)
    prepared.update(new)
    return cursor


def _execute(name: str, number: int) -> str:
    return f"EXECUTE {name} ({', '.join(['%s'] * number)})"


@lru_cache(maxsize=1024)
def _numbered(sql: str) -> tuple[str, list[str]]:
    """Return a statement with its places numbered, and the names of those that have one.

    A name that stands twice has two numbers: each place has a type of its own.
    """
    numbers = count(1)
    names = PLACE.findall(sql)
    return PLACE.sub(lambda _: f"${next(numbers)}", sql), names
