"""Prints what a collection has brought: the paper's own tables, the outcomes, the pay."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from rich.console import Console

from annotation.metrics.result import ScoreError
from annotation.reports import tables_of, tables_of_predictions
from annotation.reports.terminal import drawn
from collector.naming import collection_named
from collector.protocol import ProtocolError


class Command(BaseCommand):
    """report NAME."""

    help = (
        "Print the paper's own tables for this collection, what became of its questions, and "
        "the pay per stage. Example: manage.py report pilot --json"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("name")
        parser.add_argument("--json", action="store_true", help="numbers unrounded, by table")
        parser.add_argument(
            "--predictions",
            type=Path,
            metavar="FILE",
            help="how these do instead, in the official layout under the ids of a release",
        )

    def handle(self, **options: Any) -> None:
        """Print the tables, or say in one line why not."""
        collection = collection_named(options["name"])
        try:
            with Console(stderr=True).status("Reading questions and votes"):
                given = options["predictions"]
                tables = (
                    tables_of_predictions(collection, given) if given else tables_of(collection)
                )
        except (ProtocolError, ScoreError) as error:
            raise CommandError(str(error)) from None
        if options["json"]:
            self.stdout.write(json.dumps({table.name: table.plain() for table in tables}))
            return
        self.stdout.write(drawn(tables, in_colour=self.stdout.isatty()))
