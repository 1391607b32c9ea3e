"""Prints what a collection will cost."""

import json
from argparse import ArgumentParser
from typing import IO, Any, cast

from django.core.management.base import BaseCommand, CommandError
from rich.console import Console
from rich.table import Table

from collector.lookup import collection_named
from collector.protocols.creation import parameters_of
from collector.protocols.loading import ProtocolError
from collector.protocols.parameters import Parameters
from common.command_line import MANAGE
from tasks.costs import StageEstimate, Totals, estimate, shortfalls, totals
from tasks.lifecycle.publication import notices
from tasks.pages.wording import price


class Command(BaseCommand):
    """estimate NAME."""

    help = f"What a collection costs, at most and as expected. Example: {MANAGE} estimate pilot"

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
        whole = totals(collection, rows)
        if options["json"]:
            self.stdout.write(json.dumps(_plain(rows, whole, parameters)))
            return
        table = Table(title=f"What {collection.title} costs, fees included")
        for heading in ("Stage", "HITs", "An hour", "Expected", "Maximum"):
            table.add_column(heading, justify="left" if heading == "Stage" else "right")
        for row in rows:
            table.add_row(
                str(row.stage),
                str(row.hits),
                price(row.cents_per_hour, parameters),
                price(row.expected_cents, parameters),
                price(row.maximum_cents, parameters),
            )
        if whole.repeats:
            table.add_row("Work done again", "", "", "", price(whole.repeats, parameters))
        sums = price(whole.expected, parameters), price(whole.maximum, parameters)
        table.add_row("Maximum total", "", "", *sums)
        table.add_row("Budget", "", "", "", price(collection.budget_cents, parameters))
        Console(file=cast(IO[str], self.stdout)).print(table)
        for told in notices(parameters):
            self.stdout.write(told)


def _plain(rows: list[StageEstimate], whole: Totals, parameters: Parameters) -> dict[str, Any]:
    return {
        "stages": {row.stage.name: row.maximum_cents for row in rows},
        "repeats_cents": whole.repeats,
        "maximum_total_cents": whole.maximum,
        "expected_cents": whole.expected,
        "below_floor": [each.stage for each in shortfalls(parameters)],
        "notices": notices(parameters),
    }
