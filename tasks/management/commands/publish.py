"""Opens a collection to workers."""

from argparse import ArgumentParser
from typing import Any

from django.utils import timezone

from collector.lookup import collection_named
from collector.models import StageState
from collector.protocols.creation import parameters_of
from collector.protocols.loading import ProtocolError
from common.actions import ActionError
from common.command_line import MANAGE, Printout, ResultCommand
from tasks.crowd.requester_api import MarketplaceError
from tasks.lifecycle.maintenance import maintain_alone
from tasks.lifecycle.publication import locks_labels, notices, provider_name, publish
from tasks.pages.wording import price
from tasks.people.audience import audience_of


class Command(ResultCommand):
    """publish NAME [--stage STAGE]."""

    help = (
        "Open a collection, or one stage of it, to workers: its HITs go up on the marketplace (a "
        "dataset is released by export_dataset). A closed stage stays closed unless it is "
        "named, a paused collection goes on as it was. "
        f"Example: {MANAGE} publish pilot --stage question"
    )

    refusals = (ActionError, MarketplaceError, ProtocolError)

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("name")
        parser.add_argument("--stage", default="", help="only this stage")

    def result(self, options: dict[str, Any]) -> Printout:
        """Open it, or say in one line why not."""
        collection = collection_named(options["name"])
        opened = publish(collection, options["stage"])
        collection.refresh_from_db()
        done = maintain_alone(collection, timezone.now())
        hits = done.get("HITs published", 0) + done.get("further HITs published", 0)
        told = notices(parameters_of(collection))
        seen_by = audience_of(collection).sentences()
        closed = collection.stages.filter(state=StageState.CLOSED)
        left = "".join(f" {stage.name} stays closed." for stage in closed)
        lines = [
            f"Open on {provider_name()}: {hits} HITs published now; "
            f"more follow as they are taken.{left}"
        ]
        if locked := [stage.name for stage in opened if locks_labels(stage)]:
            lines.append(f"Labels are locked now: {', '.join(locked)}.")
        most = price(collection.maximum_cents or 0, parameters_of(collection))
        lines.append(f"Maximum total: {most}, fees included; bonuses you give come on top.")
        value = {
            "opened": [stage.name for stage in opened],
            "hits": hits,
            "notices": told,
            "seen_by": seen_by,
            "maximum_total_cents": collection.maximum_cents,
        }
        return value, [*lines, *seen_by, *told]
