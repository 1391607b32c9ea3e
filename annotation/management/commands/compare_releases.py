"""Says what came, went and changed from one release to another, and why."""

from argparse import ArgumentParser
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from annotation.release.comparison import compare
from annotation.tables.terminal import table_lines
from common.actions import ActionError
from common.command_line import MANAGE, Printout, ResultCommand
from common.spreadsheet import csv_lines


class Command(ResultCommand):
    """compare_releases BEFORE AFTER."""

    help = (
        "Print what came, went and changed from one release to another, and why. Needs the two "
        f"folders alone. Example: {MANAGE} compare_releases releases/pilot releases/pilot-2"
    )

    refusals = (ActionError,)
    json_help = "print all of it as JSON"

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("before", type=Path, metavar="BEFORE")
        parser.add_argument("after", type=Path, metavar="AFTER")
        parser.add_argument(
            "--csv", type=Path, metavar="FILE", help="write a line a changed question to this file"
        )

    def result(self, options: dict[str, Any]) -> Printout:
        """Print the tables, or say in one line why not."""
        found = compare(options["before"], options["after"])
        if path := options["csv"]:
            try:
                with path.open("x", newline="", encoding="utf-8") as file:
                    file.writelines(csv_lines(found.lines()))
            except OSError as error:
                raise CommandError(
                    f"{path}: it cannot be written ({error.strerror}); name a new file with --csv."
                ) from None
        value = {
            "tables": {table.name: table.plain() for table in found.tables},
            "questions": [asdict(change) for change in found.changes],
            "not_compared": found.withheld,
        }
        tables = table_lines(found.tables, in_colour=self.stdout.isatty())
        return value, [tables, found.note()] if found.withheld else [tables]
