"""Chooses a collection's seeds."""

import json
from argparse import ArgumentParser
from collections.abc import Callable
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from collector.lookup import collection_named
from collector.protocols.creation import parameters_of
from collector.protocols.loading import ProtocolError
from collector.seeds.selection import cautions_of, select_seeds, stages_from_seeds
from common.actions import ActionError
from common.command_line import MANAGE, count


class Command(BaseCommand):
    """select_seeds NAME --count N."""

    help = (
        "Choose seeds by the protocol's rules and plan the fold of each. "
        f"Example: {MANAGE} select_seeds pilot --count 100"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("name")
        parser.add_argument("--count", type=count, required=True, help="how many more seeds")
        parser.add_argument("--json", action="store_true", help="print the result as JSON")

    def handle(self, **options: Any) -> None:
        """Choose them, or say in one line why not."""
        if options["count"] < 1:
            raise CommandError("--count must be 1 or more.")
        collection = collection_named(options["name"])
        try:
            folds = select_seeds(collection, options["count"], tell=self._filters(options))
        except (ActionError, ProtocolError) as error:
            raise CommandError(str(error)) from None
        for sentence in cautions_of(collection):
            self.stderr.write(sentence)
        if options["json"]:
            self.stdout.write(json.dumps(folds))
        else:
            spread = ", ".join(
                f"{number} {fold or 'to be split later'}" for fold, number in sorted(folds.items())
            )
            stages = stages_from_seeds(parameters_of(collection))
            each = f", {options['count']} for each of {' and '.join(stages)}" if stages[1:] else ""
            chosen = sum(folds.values())
            seeds = "seed" if chosen == 1 else "seeds"
            self.stdout.write(f"Chose {chosen} {seeds}{each}: {spread}.")

    def _filters(self, options: dict[str, Any]) -> Callable[[str, int], None]:
        """Return what hears of each filter of the protocol; JSON has the result alone."""

        def tell(what: str, left: int) -> None:
            if not options["json"]:
                self.stdout.write(f"{left:>12,} {what}")

        return tell
