"""Changes that follow from one another: one statement where the database can, else several."""

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any

from django.db import connections, transaction
from django.db.models import JSONField, Model

from common.prepared_sql import PreparedQuery, Row, execute
from marketplace.router import DATABASE

# SQL that returns the rows it changed, and its values.
Change = tuple[str, list[Any]]
# Stands in the SQL of a change, after its other conditions, for what `chained` adds to them.
IF_SO = "/* if so */"


def chained(changes: Sequence[Change], read: PreparedQuery, **given: Any) -> tuple[int, Row | None]:
    """Make changes, each only if the one before changed a row, and read a row besides.

    Returns how many were made and the first row of `read` for the parameters given. All is one
    transaction; what was made stays, also when a later change was not.
    """
    if connections[DATABASE].vendor != "postgresql":
        with transaction.atomic(using=DATABASE):
            return _n_made(changes), read.first(**given)
    sql, values = read.bound(**given)
    whole = _at_once(tuple(change for change, _ in changes), sql)
    [(n_made, *row)] = execute(
        whole, [*(one for _, some in changes for one in some), *values], DATABASE
    )
    return n_made, read.converted(row) if any(row) else None


def _n_made(changes: Sequence[Change]) -> int:
    for n, (sql, values) in enumerate(changes):
        if not execute(sql, values, DATABASE):
            return n
    return len(changes)


@lru_cache(maxsize=64)
def _at_once(changes: tuple[str, ...], read: str) -> str:
    """Return PostgreSQL's one statement: every change sees whether the one before returned rows."""
    steps = [
        f"step{n} AS ({sql.replace(IF_SO, f'AND EXISTS (SELECT FROM step{n - 1})') if n else sql})"
        for n, sql in enumerate(changes)
    ]
    counts = " + ".join(f"(SELECT count(*) FROM step{n})" for n in range(len(changes)))
    found = f"(SELECT) one LEFT JOIN ({read}) found ON true"
    return f"WITH {', '.join(steps)} SELECT {counts}, found.* FROM {found}"


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
