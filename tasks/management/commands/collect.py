"""Reconciles a collection with the marketplace now; a job does it all the time."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from collector.lookup import collection_named
from collector.protocols.loading import ProtocolError
from common.command_line import MANAGE
from tasks.crowd.requester_api import MarketplaceError
from tasks.lifecycle.maintenance import maintain_alone
from tasks.paying import bonuses


class Command(BaseCommand):
    """collect NAME."""

    help = (
        "Reconcile a collection with the marketplace now, as a job does all the time: missing HITs "
        "go up, what was handed in is confirmed, what is due is paid. "
        f"Example: {MANAGE} collect pilot"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("name")
        parser.add_argument("--json", action="store_true", help="print the result as JSON")

    def handle(self, **options: Any) -> None:
        """Run one round and print what it did."""
        now = timezone.now()
        try:
            collection = collection_named(options["name"])
            bonuses.ask_anew(collection, now)
            done = maintain_alone(collection, now)
            if done:
                # A round asks about some HITs; here it is about all of them.
                found = bonuses.find_elsewhere(collection, now, most=None)
                done["bonuses paid elsewhere"] += found
        except (MarketplaceError, ProtocolError) as error:
            raise CommandError(str(error)) from None
        if options["json"]:
            self.stdout.write(json.dumps(done))
        else:
            lines = [f"{number} {name}" for name, number in done.items() if number]
            self.stdout.write(", ".join(lines) or "Nothing to do, or a job is at it already.")
