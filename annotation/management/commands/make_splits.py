"""Puts every kept question into its split."""

from argparse import ArgumentParser
from typing import Any

from django.utils import timezone

from annotation.splits.assignment import make_splits
from collector.lookup import collection_named
from collector.protocols.loading import ProtocolError
from common.actions import ActionError
from common.command_line import MANAGE, Printout, ResultCommand


class Command(ResultCommand):
    """make_splits NAME."""

    help = (
        "Put every kept question into its split, by the protocol's rule and the collection's "
        f"seed. Example: {MANAGE} make_splits pilot"
    )

    refusals = (ProtocolError, ActionError, ValueError)

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("name")

    def result(self, options: dict[str, Any]) -> Printout:
        """Place them, or say in one line why not."""
        collection = collection_named(options["name"])
        counts = make_splits(collection, timezone.now())
        spread = ", ".join(f"{number} {split}" for split, number in sorted(counts.items()))
        told = (
            f"Assigned {sum(counts.values())} questions to splits: {spread}. "
            f"Next: {MANAGE} export_dataset {collection.slug}"
        )
        first = f"No question is kept yet. First: {MANAGE} validate_answers {collection.slug}"
        return counts, [told if counts else first]
