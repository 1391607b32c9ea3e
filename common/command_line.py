"""Carries out a command; one whose database is empty ends in one line that says what to do."""

import os
import sys
from collections.abc import Sequence

from django.core.management import execute_from_command_line
from django.db import OperationalError, ProgrammingError

# What the two databases say of a table or a column that is not there.
NO_TABLES = ("no such table", "no such column", "unable to open database file")
UNDEFINED = ("UndefinedTable", "UndefinedColumn")


def carry_out(arguments: Sequence[str], settings: str, set_up: str) -> None:
    """Carry out one command; exits with one line where the database has no such tables yet.

    set_up: the command that makes them.
    """
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", settings)
    try:
        execute_from_command_line(list(arguments))
    except (OperationalError, ProgrammingError) as error:
        if not lacks_tables(error):
            raise
        sys.exit(f"Nothing is set up in the database yet, or not all of it. First: {set_up}")


def lacks_tables(error: Exception) -> bool:
    """Return whether a database refused because its tables were never made, or are older ones."""
    said = str(error)
    return any(words in said for words in NO_TABLES) or (
        type(error.__cause__).__name__ in UNDEFINED
    )
