"""Delivers events to requesters' programs, once or until it is stopped."""

import time
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from common.command_line import MANAGE, Printout, ResultCommand, whole
from marketplace import clock
from marketplace.models import Event
from marketplace.notifications.events import deliver_due, deliver_quietly


class Command(ResultCommand):
    """`deliver_events --once`."""

    help = (
        "Deliver what waits in the outbox of events and try again what was not taken.\n"
        "Not needed while MARKETPLACE_DELIVER_EVENTS lets the web processes do it.\n\nExample:\n"
        f"  {MANAGE} deliver_events --once"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the command's arguments."""
        parser.add_argument("--once", action="store_true", help="stop when nothing is due")
        parser.add_argument(
            "--pause", type=whole(0, 86_400), default=2, help="seconds between two looks"
        )

    def result(self, options: dict[str, Any]) -> Printout:
        """Deliver, and say how much."""
        while not options["once"]:
            deliver_quietly()
            time.sleep(options["pause"])
        found = deliver_due(clock.now())
        n_waiting = Event.objects.filter(next_attempt_at__isnull=False, queue=None).count()
        return {**asdict(found), "n_waiting": n_waiting}, [
            f"{found.n_delivered} delivered, {found.n_failed} not taken, {n_waiting} waiting"
        ]
