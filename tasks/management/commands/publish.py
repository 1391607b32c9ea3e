"""Opens a collection to workers."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from collector.lookup import collection_named
from collector.models import StageState
from collector.protocols.creation import parameters_of
from collector.protocols.loading import ProtocolError
from common.actions import ActionError
from common.command_line import MANAGE
from tasks.crowd.requester_api import MarketplaceError
from tasks.lifecycle.maintenance import maintain_alone
from tasks.lifecycle.publication import locks_labels, notices, provider_name, publish
from tasks.pages.wording import price
from tasks.people.audience import audience_of


class Command(BaseCommand):
    """publish NAME [--stage STAGE]."""

    help = (
        "Open a collection, or one stage of it, to workers: its HITs go up on the marketplace (a "
        "dataset is released by export_dataset). A closed stage stays closed unless it is "
        "named, a paused collection goes on as it was. "
        f"Example: {MANAGE} publish pilot --stage question"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("name")
        parser.add_argument("--stage", default="", help="only this stage")
        parser.add_argument("--json", action="store_true", help="print the result as JSON")

    def handle(self, **options: Any) -> None:
        """Open it, or say in one line why not."""
        collection = collection_named(options["name"])
        try:
            opened = publish(collection, options["stage"])
            collection.refresh_from_db()
            done = maintain_alone(collection, timezone.now())
        except (ActionError, MarketplaceError, ProtocolError) as error:
            raise CommandError(str(error)) from None
        hits = done.get("HITs published", 0) + done.get("further HITs published", 0)
        told = notices(parameters_of(collection))
        seen_by = audience_of(collection).sentences()
        if options["json"]:
            names = [stage.name for stage in opened]
            printed = {"opened": names, "hits": hits, "notices": told, "seen_by": seen_by}
            self.stdout.write(
                json.dumps({**printed, "maximum_total_cents": collection.maximum_cents})
            )
        else:
            closed = collection.stages.filter(state=StageState.CLOSED)
            left = "".join(f" {stage.name} stays closed." for stage in closed)
            self.stdout.write(
                f"Open on {provider_name()}: {hits} HITs published now; "
                f"more follow as they are taken.{left}"
            )
            if locked := [stage.name for stage in opened if locks_labels(stage)]:
                self.stdout.write(f"Labels are locked now: {', '.join(locked)}.")
            said = price(collection.maximum_cents or 0, parameters_of(collection))
            self.stdout.write(
                f"Maximum total: {said}, fees included; bonuses you give come on top."
            )
            for each in [*seen_by, *told]:
                self.stdout.write(each)
