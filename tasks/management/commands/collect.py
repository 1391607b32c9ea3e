"""Reconciles a collection with the marketplace now; a job does it all the time."""

from argparse import ArgumentParser
from typing import Any

from django.utils import timezone

from collector.lookup import collection_named
from collector.protocols.loading import ProtocolError
from common.command_line import MANAGE, Printout, ResultCommand
from tasks.crowd.requester_api import MarketplaceError
from tasks.lifecycle.maintenance import maintain_alone
from tasks.paying import bonuses


class Command(ResultCommand):
    """collect NAME."""

    help = (
        "Reconcile a collection with the marketplace now, as a job does all the time: missing HITs "
        "go up, what was handed in is confirmed, what is due is paid. "
        f"Example: {MANAGE} collect pilot"
    )

    refusals = (MarketplaceError, ProtocolError)

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("name")

    def result(self, options: dict[str, Any]) -> Printout:
        """Run one round and print what it did."""
        now = timezone.now()
        collection = collection_named(options["name"])
        bonuses.ask_anew(collection, now)
        done = maintain_alone(collection, now)
        if done:
            # A round asks about some HITs; here it is about all of them.
            found = bonuses.find_elsewhere(collection, now, most=None)
            done["bonuses paid elsewhere"] += found
        lines = [f"{number} {name}" for name, number in done.items() if number]
        return done, [", ".join(lines) or "Nothing to do, or a job is at it already."]
