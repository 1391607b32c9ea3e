"""Rehearses a collection: simulated workers work on a copy, which is deleted afterwards."""

from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from django.core.management.base import CommandError
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
from common.command_line import MANAGE, Printout, ResultCommand, whole
from common.long_work import WorkState
from tasks.pages.wording import price

BY = "the command rehearse"


class Command(ResultCommand):
    """rehearse NAME --workers N."""

    help = (
        "Walk simulated workers through a copy of a collection, published or not, on a "
        "marketplace of its own; tell what it takes, costs and brings, and throw the copy away. "
        "Of the collection nothing changes.\n\n"
        f"Example:\n  {MANAGE} rehearse pilot --workers 50"
    )

    refusals = (ActionError,)
    json_help = "print the findings as JSON"

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("name", help="the collection")
        parser.add_argument("--workers", type=whole(2, MOST_WORKERS), default=DEFAULT_WORKERS)

    def result(self, options: dict[str, Any]) -> Printout:
        """Return the findings of a rehearsal; raises CommandError if it did not finish."""
        collection = collection_named(options["name"])
        row = order_rehearsal(collection, options["workers"], BY, timezone.now())
        try:
            rehearse(row.pk, timezone.now(), self._reporter(quiet=options["json"]))
        finally:
            row.stop(timezone.now())
        row.refresh_from_db()
        if row.state != WorkState.DONE:
            raise CommandError(
                row.message or "It was stopped: another one is under way, or you did."
            )
        return row.findings, _lines(row)

    def _reporter(self, *, quiet: bool) -> Any:
        last = ""

        def report(step: str, share: float) -> None:
            nonlocal last
            if not quiet and self.stdout.isatty() and step != last:
                last = step
                self.stdout.write(f"{share:4.0%}  {step}")

        return report


def _lines(row: Rehearsal) -> Iterator[str]:
    """Yield the findings of a rehearsal as lines of text."""
    found, parameters = row.findings, parameters_of(row.collection)
    yield (
        f"{found['workers']} simulated workers did {found['hits']} HITs in "
        f"{found['seconds']:.0f} s, on {found['copied']['seeds']} of "
        f"{found['whole']['seeds']} seeds."
    )
    if found["part"]:
        yield found["part"]
    for stage in found["stages"]:
        least = stage["least_minutes"]
        takes = f", {least:g} min to read and type alone" if least is not None else ""
        yield (
            f"  {stage['name']}: {stage['hits']} HITs; {stage['expected_minutes']} min "
            f"expected{takes}; {price(stage['cents_per_hour'], parameters)} an hour"
        )
    yield (
        f"It cost {price(found['cost_cents'], parameters)}, expected were "
        f"{price(found['expected_cents'], parameters)}. Kept: {found['kept']}, excluded: "
        f"{found['dropped']}, waiting for answers: {found['waiting']}."
    )
    for problem in found["problems"]:
        n = f" ({problem['n']})" if problem["n"] else ""
        where = f"{problem['stage']}: " if problem["stage"] else ""
        yield f"  {problem['kind']}: {where}{problem['sentence']}{n}"
    yield (f"{row.pages.count()} pages as workers saw them are on the collection's page Rehearse.")
