"""Lays out rows again that a function has made before from empty tables, with the same keys."""

import pickle
from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple, ParamSpec, TypeVar

from django.apps import apps
from django.db import connection, models

Given = ParamSpec("Given")
Made = TypeVar("Made")
# The apps whose tables are empty when a test begins, and in which such functions write.
APPS = ("collector", "tasks", "annotation")
# What was made, by function and arguments.
_recorded: dict[tuple[str, bytes], "Recorded"] = {}


class Recorded(NamedTuple):
    """What a call has returned, and one statement a table that writes what it wrote."""

    returned: bytes
    statements: list[tuple[str, list[Any]]]


def recorded(make: Callable[Given, Made]) -> Callable[Given, Made]:
    """Decorate a function that writes the same rows whenever it gets the same plain arguments.

    Hundreds of tests begin with what it makes, and making it costs more than most of them. So it
    runs for the first of them in each process; the others get its rows, each table's at once.
    It always runs where there are rows already, for arguments that are rows themselves, and where
    what it writes is committed: other code then keeps by its key what it has read.
    """

    @wraps(make)
    def remade(*args: Given.args, **kwargs: Given.kwargs) -> Made:
        given = (args, sorted(kwargs.items()))
        if not connection.in_atomic_block or _has_rows(given) or not _are_empty():
            return make(*args, **kwargs)
        key = (f"{make.__module__}.{make.__qualname__}", pickle.dumps(given))
        if key not in _recorded:
            made = make(*args, **kwargs)
            _recorded[key] = Recorded(pickle.dumps(made), _statements())
            return made
        with connection.cursor() as cursor:
            for statement, values in _recorded[key].statements:
                cursor.execute(statement, values)
        return pickle.loads(_recorded[key].returned)

    return remade


def forget() -> None:
    """Make everything anew: rows may have been committed under the keys that were recorded."""
    _recorded.clear()


def _has_rows(given: tuple[tuple[Any, ...], list[tuple[str, Any]]]) -> bool:
    args, named = given
    return any(isinstance(one, models.Model) for one in (*args, *(one for _, one in named)))


def _tables() -> list[str]:
    """Return the tables in the order in which the models are declared."""
    return [
        model._meta.db_table
        for app in APPS
        for model in apps.get_app_config(app).get_models(include_auto_created=True)
    ]


def _are_empty() -> bool:
    found = " OR ".join(f'EXISTS (SELECT 1 FROM "{table}")' for table in _tables())
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {found}")
        return not cursor.fetchone()[0]


def _statements() -> list[tuple[str, list[Any]]]:
    """Return what writes all rows there are; foreign keys are looked at when a test ends."""
    statements = []
    with connection.cursor() as cursor:
        for table in _tables():
            cursor.execute(f'SELECT * FROM "{table}"')
            rows = cursor.fetchall()
            if not rows:
                continue
            columns = ", ".join(f'"{column[0]}"' for column in cursor.description)
            places = ", ".join(["%s"] * len(rows[0]))
            statement = f'INSERT INTO "{table}" ({columns}) VALUES '
            statement += ", ".join([f"({places})"] * len(rows))
            statements.append((statement, [value for row in rows for value in row]))
    return statements
