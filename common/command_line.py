"""How a command is named, and run so that whatever stops it from outside is told in one line."""

import os
import sys
from collections.abc import Callable, Sequence

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line
from django.db import DatabaseError, DataError, InterfaceError

from common.outages import LOCKED
from common.storable import NotStorable

# What the two databases say of a table or a column that is not there.
NO_TABLES = ("no such table", "no such column", "unable to open database file")
UNDEFINED = ("UndefinedTable", "UndefinedColumn")
REFUSALS = (
    *(DatabaseError, InterfaceError, ImproperlyConfigured),
    *(NotStorable, OverflowError, RecursionError, UnicodeError, OSError),
)
# From the folder in which `make` has installed everything.
MANAGE = ".venv/bin/python manage.py"


def run_command(
    arguments: Sequence[str],
    settings: str,
    set_up: str,
    afterwards: Callable[[], object] = lambda: None,
) -> None:
    """Run one command; ends the process with one line and code 1 where its world is not fit.

    set_up: the command that makes the database's tables. `afterwards` is called where the command
    was carried out.
    """
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", settings)
    try:
        execute_from_command_line(list(arguments))
        afterwards()
    except REFUSALS as error:
        sys.exit(sentence(error, set_up))
    except KeyboardInterrupt:
        sys.exit("Stopped.")


def sentence(error: BaseException, set_up: str) -> str:
    """Return one line that says what is wrong and what to do."""
    said = " ".join(str(error).split())[:300]
    if isinstance(error, DatabaseError) and lacks_tables(error):
        return f"Nothing is set up in the database yet, or not all of it. First: {set_up}"
    if isinstance(error, DataError | OverflowError):
        return f"A value is too long or too large to be kept ({said}): give a shorter one."
    if isinstance(error, DatabaseError) and LOCKED.search(said):
        return "Another process has been writing to the database for long: try again in a moment."
    if isinstance(error, DatabaseError | InterfaceError):
        return f"The database does not answer ({said}): start it, or mend its address."
    if isinstance(error, RecursionError):
        return "What was given is nested too deeply to be read: give a file of the usual layout."
    if isinstance(error, UnicodeError):
        return f"What was given is no text in UTF-8 ({said})."
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}it cannot be read or written ({error.strerror or said})."
    return said


def lacks_tables(error: Exception) -> bool:
    """Return whether a database refused because its tables were never made, or are older ones."""
    said = str(error)
    return any(words in said for words in NO_TABLES) or (
        type(error.__cause__).__name__ in UNDEFINED
    )
