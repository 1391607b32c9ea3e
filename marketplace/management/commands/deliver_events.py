"""Delivers events to requesters' programs, once or until it is stopped."""

import json
import time
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand

from common.command_line import MANAGE, whole
from marketplace import clock
from marketplace.models import Event
from marketplace.notifications.delivery import deliver_due, deliver_quietly


class Command(BaseCommand):
    """`deliver_events --once`."""

    help = (
        "Deliver what waits in the outbox of events and try again what was not taken.\n"
        "Not needed while MARKETPLACE_DELIVER_EVENTS lets the web processes do it.\n\nExample:\n"
        f"  {MANAGE} deliver_events --once"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the command's arguments."""
        parser.formatter_class = RawDescriptionHelpFormatter
        parser.add_argument("--once", action="store_true", help="stop when nothing is due")
        parser.add_argument(
            "--pause", type=whole(0, 86_400), default=2, help="seconds between two looks"
        )
        parser.add_argument("--json", action="store_true", help="print the result as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Deliver, and say how much."""
        while not options["once"]:
            deliver_quietly()
            time.sleep(options["pause"])
        found = deliver_due(clock.now())
        n_waiting = Event.objects.filter(next_attempt_at__isnull=False, queue=None).count()
        if options["json"]:
            self.stdout.write(json.dumps({**asdict(found), "n_waiting": n_waiting}))
            return
        self.stdout.write(
            f"{found.n_delivered} delivered, {found.n_failed} not taken, {n_waiting} waiting"
        )
