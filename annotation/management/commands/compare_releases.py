"""Says what came, went and changed from one release to another, and why."""

import json
from argparse import ArgumentParser
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.release.comparison import Comparison, compare
from annotation.tables.terminal import table_lines
from common.actions import ActionError
from common.command_line import MANAGE
from common.spreadsheet import csv_lines


class Command(BaseCommand):
    """compare_releases BEFORE AFTER."""

    help = (
        "Print what came, went and changed from one release to another, and why. Needs the two "
        f"folders alone. Example: {MANAGE} compare_releases releases/pilot releases/pilot-2"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("before", type=Path, metavar="BEFORE")
        parser.add_argument("after", type=Path, metavar="AFTER")
        parser.add_argument(
            "--csv", type=Path, metavar="FILE", help="write a line a changed question to this file"
        )
        parser.add_argument("--json", action="store_true", help="print all of it as JSON")

    def handle(self, **options: Any) -> None:
        """Print the tables, or say in one line why not."""
        try:
            found = compare(options["before"], options["after"])
        except ActionError as error:
            raise CommandError(str(error)) from None
        if options["csv"]:
            _write_csv(options["csv"], found)
        if options["json"]:
            value = {
                "tables": {table.name: table.plain() for table in found.tables},
                "questions": [asdict(change) for change in found.changes],
                "not_compared": found.withheld,
            }
            self.stdout.write(json.dumps(value))
            return
        self.stdout.write(table_lines(found.tables, in_colour=self.stdout.isatty()))
        if found.withheld:
            self.stdout.write(found.note())


def _write_csv(path: Path, found: Comparison) -> None:
    """Write the changes as a new file; raises CommandError where that cannot be done."""
    try:
        with path.open("x", newline="", encoding="utf-8") as file:
            file.writelines(csv_lines(found.lines()))
    except OSError as error:
        raise CommandError(
            f"{path}: it cannot be written ({error.strerror}); name a new file with --csv."
        ) from None
