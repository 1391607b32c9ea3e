"""Changes that follow from one another: one statement where the database can, else several."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from django.db import connections, transaction

from marketplace.prepared import IF_SO, Change, Prepared, execute
from marketplace.router import DATABASE

Row = tuple[Any, ...]


def chained(changes: Sequence[Change], read: Prepared, **given: Any) -> tuple[int, Row | None]:
    """Make changes, each only if the one before changed a row, and read a row besides.

    Returns how many were made and the first row of `read` for the parameters given. All is one
    transaction; what was made stays, also when a later change was not.
    """
    if connections[DATABASE].vendor != "postgresql":
        with transaction.atomic(using=DATABASE):
            return _n_made(changes), read.first(**given)
    sql, values = read.bound(**given)
    whole = _at_once(tuple(change for change, _ in changes), sql)
    [(n_made, *row)] = execute(whole, [*(one for _, some in changes for one in some), *values])
    return n_made, read.converted(row) if any(row) else None


def _n_made(changes: Sequence[Change]) -> int:
    for n, (sql, values) in enumerate(changes):
        if not execute(sql, values):
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
