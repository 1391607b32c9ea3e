"""Rehearses a collection with simulated workers on a copy of it, which is thrown away."""

import json
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from annotation.models import Rehearsal
from annotation.rehearsal.orders import (
    DEFAULT_WORKERS,
    MOST_WORKERS,
    order_rehearsal,
    rehearse,
)
from collector.lookup import collection_named
from collector.protocols.creation import parameters_of
from common.actions import ActionError
from common.command_line import MANAGE, whole
from common.long_work import WorkState
from tasks.pages.wording import price

BY = "the command rehearse"


class Command(BaseCommand):
    """rehearse NAME --workers N."""

    help = (
        "Walk simulated workers through a copy of a collection, published or not, on a "
        "marketplace of its own; tell what it takes, costs and brings, and throw the copy away. "
        "Of the collection nothing changes.\n\n"
        f"Example:\n  {MANAGE} rehearse pilot --workers 50"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.formatter_class = RawDescriptionHelpFormatter
        parser.add_argument("name", help="the collection")
        parser.add_argument("--workers", type=whole(2, MOST_WORKERS), default=DEFAULT_WORKERS)
        parser.add_argument("--json", action="store_true", help="print the findings as JSON")

    def handle(self, **options: Any) -> None:
        """Rehearse, or say in one line why not."""
        collection = collection_named(options["name"])
        try:
            row = order_rehearsal(collection, options["workers"], BY, timezone.now())
        except ActionError as error:
            raise CommandError(str(error)) from None
        try:
            rehearse(row.pk, timezone.now(), self._reporter(quiet=options["json"]))
        finally:
            row.stop(timezone.now())
        row.refresh_from_db()
        if row.state != WorkState.DONE:
            raise CommandError(
                row.message or "It was stopped: another one is under way, or you did."
            )
        if options["json"]:
            self.stdout.write(json.dumps(row.findings))
        else:
            self._print(row)

    def _reporter(self, *, quiet: bool) -> Any:
        last = ""

        def report(step: str, share: float) -> None:
            nonlocal last
            if not quiet and self.stdout.isatty() and step != last:
                last = step
                self.stdout.write(f"{share:4.0%}  {step}")

        return report

    def _print(self, row: Rehearsal) -> None:
        found, parameters = row.findings, parameters_of(row.collection)
        write = self.stdout.write
        write(
            f"{found['workers']} simulated workers did {found['hits']} HITs in "
            f"{found['seconds']:.0f} s, on {found['copied']['seeds']} of "
            f"{found['whole']['seeds']} seeds."
        )
        if found["part"]:
            write(found["part"])
        for stage in found["stages"]:
            least = stage["least_minutes"]
            takes = f", {least:g} min to read and type alone" if least is not None else ""
            write(
                f"  {stage['name']}: {stage['hits']} HITs; {stage['expected_minutes']} min "
                f"expected{takes}; {price(stage['cents_per_hour'], parameters)} an hour"
            )
        write(
            f"It cost {price(found['cost_cents'], parameters)}, expected were "
            f"{price(found['expected_cents'], parameters)}. Kept: {found['kept']}, excluded: "
            f"{found['dropped']}, waiting for answers: {found['waiting']}."
        )
        for problem in found["problems"]:
            n = f" ({problem['n']})" if problem["n"] else ""
            where = f"{problem['stage']}: " if problem["stage"] else ""
            write(f"  {problem['kind']}: {where}{problem['sentence']}{n}")
        write(
            f"{row.pages.count()} pages as workers saw them are on the collection's page Rehearse."
        )
