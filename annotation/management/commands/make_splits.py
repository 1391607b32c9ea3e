"""Puts every kept question into its split."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from annotation.splits.assignment import make_splits
from collector.lookup import collection_named
from collector.protocols.loading import ProtocolError
from common.actions import ActionError
from common.command_line import MANAGE


class Command(BaseCommand):
    """make_splits NAME."""

    help = (
        "Put every kept question into its split, by the protocol's rule and the collection's "
        f"seed. Example: {MANAGE} make_splits pilot"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("name")
        parser.add_argument("--json", action="store_true", help="print the result as JSON")

    def handle(self, **options: Any) -> None:
        """Place them, or say in one line why not."""
        collection = collection_named(options["name"])
        try:
            counts = make_splits(collection, timezone.now())
        except (ProtocolError, ActionError, ValueError) as error:
            raise CommandError(str(error)) from None
        if options["json"]:
            self.stdout.write(json.dumps(counts))
            return
        if not counts:
            self.stdout.write(
                f"No question is kept yet. First: {MANAGE} validate_answers {collection.slug}"
            )
            return
        spread = ", ".join(f"{number} {split}" for split, number in sorted(counts.items()))
        self.stdout.write(
            f"Assigned {sum(counts.values())} questions to splits: {spread}. "
            f"Next: {MANAGE} export_dataset {collection.slug}"
        )
