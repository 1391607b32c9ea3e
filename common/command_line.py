"""How commands are named and run, what they take as numbers, and how they print what they did."""

import json
import os
import sys
from argparse import ArgumentTypeError, RawDescriptionHelpFormatter
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal, InvalidOperation
from io import StringIO
from typing import TYPE_CHECKING, Any

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.core.serializers.json import DjangoJSONEncoder
from django.db import DatabaseError, DataError, InterfaceError

from common.outages import LOCKED
from common.storable import NotStorable

if TYPE_CHECKING:
    from rich.table import Table

# What the two databases say of a table or a column that is not there.
NO_TABLES = ("no such table", "no such column", "unable to open database file")
UNDEFINED = ("UndefinedTable", "UndefinedColumn")
REFUSALS = (
    *(DatabaseError, InterfaceError, ImproperlyConfigured),
    *(NotStorable, OverflowError, RecursionError, UnicodeError, OSError),
)
# What --json prints, and the lines that people read.
Printout = tuple[Any, Iterable[str]]
# From the folder in which `make` has installed everything.
MANAGE = ".venv/bin/python manage.py"
# So much no collection and no account ever holds; as cents it fits every column.
MOST = Decimal(10) ** 12
SEED_BITS = 63


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


def amount(text: str) -> Decimal:
    """Return a sum of money, such as 250 or 12.50; raises ArgumentTypeError."""
    try:
        value = Decimal(text)
    except InvalidOperation:
        value = Decimal("NaN")
    if not value.is_finite() or not 0 <= value < MOST:
        raise ArgumentTypeError(f"{text!r} is no amount: write it like 12.50.")
    return value


def whole(least: int, most: int) -> Callable[[str], int]:
    """Return what reads a whole number from `least` to `most`; it raises ArgumentTypeError."""

    def number(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if not least <= value <= most:
            raise ArgumentTypeError(f"{text[:40]!r}: write a whole number from {least} to {most}.")
        return value

    return number


count = whole(1, 10**9)
processes = whole(1, 1000)
seed = whole(-(2**SEED_BITS), 2**SEED_BITS - 1)


class ResultCommand(BaseCommand):
    """A command that does one thing and prints its result, with --json for programs.

    refusals: the errors whose sentence is printed in place of a result. json_help: what the result
    is as JSON.
    """

    refusals: tuple[type[Exception], ...] = ()
    json_help = "print the result as JSON"
    # What is wrong with a result that is printed all the same; set where the command ends with it.
    problem = ""

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """Return Django's parser with --json; help that is written in lines keeps them."""
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        parser.add_argument("--json", action="store_true", help=self.json_help)
        if "\n" in self.help:
            parser.formatter_class = RawDescriptionHelpFormatter
        return parser

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the result; raises CommandError with a sentence where there is none."""
        try:
            value, lines = self.result(options)
            if options["json"]:
                lines = [json.dumps(value, cls=DjangoJSONEncoder)]
            for line in lines:
                self.stdout.write(line)
        except self.refusals as error:
            told = str(error)
            if isinstance(error, OSError) and error.filename:
                told = f"{error.filename}: {error.strerror}."
            # With --traceback it is shown where it comes from.
            raise CommandError(told) from error
        if self.problem:
            raise CommandError(self.problem)

    def result(self, options: dict[str, Any]) -> Printout:
        """Do it, and return what --json prints and the lines that people read.

        The lines may be made while they are printed; with --json nobody asks for them. Raises one
        of `refusals`, or CommandError.
        """
        raise NotImplementedError

    def table_text(self, table: "Table") -> str:
        """Return a table as a terminal shows it, in colour where the output is one."""
        # Only few commands need it, and it takes a tenth of a second to load.
        from rich.console import Console

        console = Console(file=StringIO(), force_terminal=self.stdout.isatty(), width=100)
        console.print(table)
        return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]
