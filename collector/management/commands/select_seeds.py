"""Chooses a collection's seeds."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from collector.lookup import collection_named
from collector.protocols.creation import parameters_of
from collector.protocols.loading import ProtocolError
from collector.seeds.selection import cautions_of, select_seeds, stages_from_seeds
from common.actions import ActionError
from common.command_line import MANAGE, Printout, ResultCommand, count


class Command(ResultCommand):
    """select_seeds NAME --count N."""

    help = (
        "Choose seeds by the protocol's rules and plan the fold of each. "
        f"Example: {MANAGE} select_seeds pilot --count 100"
    )

    refusals = (ActionError, ProtocolError)

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("name")
        parser.add_argument("--count", type=count, required=True, help="how many more seeds")

    def result(self, options: dict[str, Any]) -> Printout:
        """Choose them, or say in one line why not."""
        if options["count"] < 1:
            raise CommandError("--count must be 1 or more.")
        collection = collection_named(options["name"])

        def report(what: str, left: int) -> None:
            # JSON is printed alone.
            if not options["json"]:
                self.stdout.write(f"{left:>12,} {what}")

        folds = select_seeds(collection, options["count"], tell=report)
        for sentence in cautions_of(collection):
            self.stderr.write(sentence)
        spread = ", ".join(
            f"{number} {fold or 'to be split later'}" for fold, number in sorted(folds.items())
        )
        stages = stages_from_seeds(parameters_of(collection))
        each = f", {options['count']} for each of {' and '.join(stages)}" if stages[1:] else ""
        chosen = sum(folds.values())
        seeds = "seed" if chosen == 1 else "seeds"
        return folds, [f"Chose {chosen} {seeds}{each}: {spread}."]
