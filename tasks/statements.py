"""Statements written by hand, for what happens with every page and every word a worker writes.

Django builds a query anew each time, which takes several times as long as running it. What is
here reads and changes single rows by their keys; everything else asks Django.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, lru_cache
from itertools import chain
from typing import Any

from django.db import connection
from django.db.models import Field, Model, QuerySet


@dataclass(frozen=True)
class Part:
    """One row of a join: its model, the columns to read, and how it hangs on earlier parts.

    optional: there may be no such row; the instance is None then.
    """

    alias: str
    model: type[Model]
    names: str
    on: str = ""
    optional: bool = False

    @cached_property
    def fields(self) -> "list[Field[Any, Any]]":
        """Return the model's fields that are read, in the model's own order."""
        wanted = self.names.split()
        found = [field for field in self.model._meta.concrete_fields if field.attname in wanted]
        assert len(found) == len(wanted), f"{self.model} lacks one of {wanted}"
        return found

    @property
    def source(self) -> str:
        """Return the part's place in the FROM clause."""
        table = f"{self.model._meta.db_table} {self.alias}"
        if not self.on:
            return table
        return f"{'LEFT JOIN' if self.optional else 'JOIN'} {table} ON {self.on}"


class Reading:
    """A join whose rows become instances, one for each part, as with `select_related`.

    Columns that are not named are fetched when they are asked for. `plain` are columns that stay
    as the database gives them: JSON as text. `joined` are tables that only those come from.
    """

    def __init__(self, *parts: Part, plain: tuple[str, ...] = (), joined: str = "") -> None:
        self.parts = parts
        self.plain = plain
        self.joined = joined

    @cached_property
    def sql(self) -> str:
        """Return the statement up to its WHERE."""
        columns = [
            f"{part.alias}.{field.column}" for part in self.parts for field in part.fields
        ] + [f"{name} AS plain_{number}" for number, name in enumerate(self.plain)]
        sources = " ".join(part.source for part in self.parts)
        return f"SELECT {', '.join(columns)} FROM {sources} {self.joined}"

    @cached_property
    def converters(self) -> list[tuple[int, Any, Any]]:
        """Return what this database needs to turn a column into its field's value."""
        found = []
        fields = [(part, field) for part in self.parts for field in part.fields]
        for position, (part, field) in enumerate(fields):
            column = field.get_col(part.alias)
            for converter in [
                *connection.ops.get_db_converters(column),
                *column.get_db_converters(connection),
            ]:
                found.append((position, converter, column))
        return found

    def first(self, where: str, **values: Any) -> list[Any] | None:
        """Return the instances and the plain values of the first row, or None without one."""
        with connection.cursor() as cursor:
            cursor.execute(f"{self.sql} WHERE {where} LIMIT 1", values)
            row = cursor.fetchone()
        return None if row is None else list(self._instances(list(row)))

    def all(self, where: str, **values: Any) -> list[list[Any]]:
        """Return the instances and the plain values of every row.

        A part that is the same row in several lines is the same instance in all of them.
        """
        with connection.cursor() as cursor:
            cursor.execute(f"{self.sql} WHERE {where}", values)
            made: dict[tuple[str, Any], Any] = {}
            return [list(self._instances(list(row), made)) for row in cursor.fetchall()]

    @cached_property
    def _slices(self) -> list[tuple[Part, list[str], int]]:
        """Return the parts with the names of their values and the position of the first."""
        found, start = [], 0
        for part in self.parts:
            found.append((part, [field.attname for field in part.fields], start))
            start += len(part.fields)
        return found

    def _instances(
        self, row: list[Any], made: dict[tuple[str, Any], Any] | None = None
    ) -> Iterator[Any]:
        """Yield a line's instances, which begin with their keys, and its plain values.

        made: the instances of the lines before, by the part's alias and their keys.
        """
        made = {} if made is None else made
        for position, converter, column in self.converters:
            row[position] = converter(row[position], column, connection)
        end = 0
        for part, names, start in self._slices:
            end = start + len(names)
            key = part.alias, row[start]
            if key not in made:
                absent = part.optional and row[start] is None
                made[key] = (
                    None if absent else part.model.from_db(connection.alias, names, row[start:end])
                )
            yield made[key]
        yield from row[end:]


class Prepared:
    """A query that Django builds once, and that runs with other values each time.

    `build` makes it of the stand-ins, which are values that no row has; `values_list` decides
    what comes back, as the database gives it.
    """

    def __init__(self, build: "Callable[..., QuerySet[Any, Any]]", **stand_ins: int | str) -> None:
        self.build = build
        self.stand_ins = stand_ins

    @cached_property
    def _built(self) -> tuple[str, list[tuple[str, Any]]]:
        """Return the SQL and, for each place in it, the name of a value or "" and a constant."""
        names = {value: name for name, value in self.stand_ins.items()}
        sql, values = self.build(**self.stand_ins).query.sql_with_params()
        places = [(names.get(value, ""), value) for value in values]
        assert {name for name, _ in places if name} == set(self.stand_ins)
        return sql, places

    def rows(self, **values: Any) -> list[tuple[Any, ...]]:
        """Return what the query finds for these values."""
        sql, places = self._built
        return rows(sql, *[values[name] if name else constant for name, constant in places])


def rows(sql: str, *values: Any) -> list[tuple[Any, ...]]:
    """Return what one statement selects, its %s filled in; JSON as text on every database."""
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return list(cursor.fetchall())


def run(sql: str, **values: Any) -> int:
    """Run one statement with its %(named)s values and return how many rows it changed."""
    with connection.cursor() as cursor:
        cursor.execute(sql, {name: _adapted(value) for name, value in values.items()})
        return int(cursor.rowcount)


def insert(*new: Model) -> None:
    """Insert new instances of one model, by one statement, and give them their keys."""
    columns, names = _columns(type(new[0]))
    values = [[_adapted(getattr(row, name)) for name in names] for row in new]
    for row, (key,) in zip(new, _insert(type(new[0]), columns, values, ""), strict=True):
        row.pk = key


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
    alike = [_adapted(value) for value in shared.values()]
    values = [[*alike, *map(_adapted, row.values())] for row in own]
    return len(_insert(model, ", ".join([*shared, *own[0]]), values, unless))


def _insert(
    model: type[Model], columns: str, values: list[list[Any]], unless: str
) -> list[tuple[Any, ...]]:
    places = f"({', '.join(['%s'] * len(values[0]))})"
    return rows(
        f"INSERT INTO {model._meta.db_table} ({columns})"
        f" VALUES {', '.join([places] * len(values))}"
        + (f" ON CONFLICT ({unless}) DO NOTHING" if unless else "")
        + " RETURNING id",
        *chain.from_iterable(values),
    )


@lru_cache
def _columns(model: type[Model]) -> tuple[str, list[str]]:
    """Return the columns of a model without its key, and the names of their values."""
    fields = [field for field in model._meta.concrete_fields if not field.primary_key]
    return ", ".join(str(field.column) for field in fields), [field.attname for field in fields]


def _adapted(value: Any) -> Any:
    """Return a field's value as the database takes it; dictionaries and lists are JSON."""
    if isinstance(value, datetime):
        return connection.ops.adapt_datetimefield_value(value)
    return json.dumps(value) if isinstance(value, dict | list) else value
