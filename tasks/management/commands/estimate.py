"""Prints what a collection will cost."""

import json
from argparse import ArgumentParser
from typing import IO, Any, cast

from django.core.management.base import BaseCommand, CommandError
from rich.console import Console
from rich.table import Table

from collector.creation import parameters_of
from collector.naming import collection_named
from collector.protocol import ProtocolError
from tasks.estimates import estimate
from tasks.pages.words import price


class Command(BaseCommand):
    """estimate NAME."""

    help = "What a collection will cost, worst case and expected. Example: manage.py estimate pilot"

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("name")
        parser.add_argument("--json", action="store_true", help="print the result as JSON")

    def handle(self, **options: Any) -> None:
        """Print one row per stage and the totals."""
        collection = collection_named(options["name"])
        try:
            rows, parameters = estimate(collection), parameters_of(collection)
        except ProtocolError as error:
            raise CommandError(str(error)) from None
        worst = sum(row.worst_cents for row in rows)
        expected = sum(row.expected_cents for row in rows)
        if options["json"]:
            stages = {row.stage.name: row.worst_cents for row in rows}
            totals = {"stages": stages, "worst_cents": worst, "expected_cents": expected}
            self.stdout.write(json.dumps(totals))
            return
        table = Table(title=f"What {collection.title} will cost, fees included")
        for heading in ("Stage", "HITs", "Expected", "Worst case"):
            table.add_column(heading, justify="left" if heading == "Stage" else "right")
        for row in rows:
            table.add_row(
                str(row.stage),
                str(row.hits),
                price(row.expected_cents, parameters),
                price(row.worst_cents, parameters),
            )
        table.add_row("Total", "", price(expected, parameters), price(worst, parameters))
        table.add_row("Budget", "", "", price(collection.budget_cents, parameters))
        Console(file=cast(IO[str], self.stdout)).print(table)
