"""Statements written by hand, for what happens with every page and every word a worker writes.

Django builds a query anew each time, which takes several times as long as running it. What is
here reads and changes single rows by their keys; everything else asks Django.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from django.db import connection
from django.db.models import Field, Model


@dataclass(frozen=True)
class Part:
    """One row of a join: its model, the columns to read, and how it hangs on earlier parts."""

    alias: str
    model: type[Model]
    names: str
    on: str = ""

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
        return f"JOIN {table} ON {self.on}" if self.on else table


class Reading:
    """A join whose rows become instances, one for each part, as with `select_related`.

    Columns that are not named are fetched when they are asked for. `plain` are columns that stay
    as the database gives them: JSON as text.
    """

    def __init__(self, *parts: Part, plain: tuple[str, ...] = ()) -> None:
        self.parts = parts
        self.plain = plain

    @cached_property
    def sql(self) -> str:
        """Return the statement up to its WHERE."""
        columns = [
            f"{part.alias}.{field.column}" for part in self.parts for field in part.fields
        ] + [f"{name} AS plain_{number}" for number, name in enumerate(self.plain)]
        sources = " ".join(part.source for part in self.parts)
        return f"SELECT {', '.join(columns)} FROM {sources}"

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

    def _instances(self, row: list[Any]) -> Iterator[Any]:
        for position, converter, column in self.converters:
            row[position] = converter(row[position], column, connection)
        start = 0
        for part in self.parts:
            names = [field.attname for field in part.fields]
            end = start + len(names)
            yield part.model.from_db(connection.alias, names, row[start:end])
            start = end
        yield from row[start:]


def run(sql: str, **values: Any) -> int:
    """Run one statement with its %(named)s values and return how many rows it changed."""
    with connection.cursor() as cursor:
        cursor.execute(sql, {name: _adapted(value) for name, value in values.items()})
        return int(cursor.rowcount)


def insert(rows: Sequence[Model], *, unless: str = "") -> int:
    """Insert new instances of one model and return how many were; a single one gets its key.

    unless: columns, such as "stage_id, key"; a row equal to another in all of them is left out.
    """
    if not rows:
        return 0
    fields = [field for field in rows[0]._meta.concrete_fields if not field.primary_key]
    places = f"({', '.join(['%s'] * len(fields))})"
    sql = (
        f"INSERT INTO {rows[0]._meta.db_table} ({', '.join(str(field.column) for field in fields)})"
        f" VALUES {', '.join([places] * len(rows))}"
        + (f" ON CONFLICT ({unless}) DO NOTHING" if unless else "")
        + " RETURNING id"
    )
    names = [field.attname for field in fields]
    values = [_adapted(getattr(row, name)) for row in rows for name in names]
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        keys = cursor.fetchall()
    if len(rows) == 1 and keys:
        rows[0].pk = keys[0][0]
    return len(keys)


def _adapted(value: Any) -> Any:
    """Return a field's value as the database takes it; dictionaries and lists are JSON."""
    if isinstance(value, datetime):
        return connection.ops.adapt_datetimefield_value(value)
    return json.dumps(value) if isinstance(value, dict | list) else value
