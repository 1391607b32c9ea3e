"""Prints what a collection will cost."""

from argparse import ArgumentParser
from typing import Any

from rich.table import Table

from collector.lookup import collection_named
from collector.protocols.creation import parameters_of
from collector.protocols.loading import ProtocolError
from common.command_line import MANAGE, Printout, ResultCommand
from tasks.costs import estimate, shortfalls, totals
from tasks.lifecycle.publication import notices
from tasks.pages.wording import price


class Command(ResultCommand):
    """estimate NAME."""

    help = f"What a collection costs, at most and as expected. Example: {MANAGE} estimate pilot"

    refusals = (ProtocolError,)

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("name")

    def result(self, options: dict[str, Any]) -> Printout:
        """Print one row per stage and the totals."""
        collection = collection_named(options["name"])
        rows, parameters = estimate(collection), parameters_of(collection)
        whole = totals(collection, rows)
        told = notices(parameters)
        value = {
            "stages": {row.stage.name: row.maximum_cents for row in rows},
            "repeats_cents": whole.repeats,
            "maximum_total_cents": whole.maximum,
            "expected_cents": whole.expected,
            "below_floor": [each.stage for each in shortfalls(parameters)],
            "notices": told,
        }
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
        return value, [self.table_text(table), *told]
