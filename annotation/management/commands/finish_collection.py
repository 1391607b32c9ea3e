"""Finishes a collection, or reopens it, and says what stays to be done."""

from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.utils import timezone

from annotation.reports.attention import FinishingReport, finishing_report
from collector.lookup import collection_named
from collector.models import Collection
from collector.protocols.creation import parameters_of
from collector.protocols.loading import ProtocolError
from common.actions import ActionError
from common.command_line import MANAGE, Printout, ResultCommand
from tasks.lifecycle.maintenance import maintain_alone
from tasks.lifecycle.publication import finish, reopen
from tasks.pages.wording import price


class Command(ResultCommand):
    """finish_collection NAME [--reopen]."""

    help = (
        "End a collection's intake: HITs come down, who is at work finishes and is paid. "
        f'Example: {MANAGE} finish_collection pilot --why "We have enough."'
    )

    refusals = (ActionError, ProtocolError)

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("name")
        parser.add_argument("--reopen", action="store_true", help="take it back: pause it instead")
        parser.add_argument("--why", default="", help="a reason, kept in the history")
        parser.add_argument("--by", default="the command line", help="who is named in the history")
        parser.add_argument("--dry-run", action="store_true", help="only say what it would do")

    def result(self, options: dict[str, Any]) -> Printout:
        """Finish or reopen it, or say in one line why not."""
        collection = collection_named(options["name"])
        change = reopen if options["reopen"] else finish
        before = finishing_report(collection)
        if not options["dry_run"]:
            change(collection, options["why"], options["by"][:150], timezone.now())
            collection.refresh_from_db()
            maintain_alone(collection, timezone.now())
        after = finishing_report(collection)
        collection.refresh_from_db()
        return {
            "collection": collection.slug,
            "state": collection.state,
            **asdict(after.work),
            "to_inspect": after.to_inspect,
            "pay_decisions": after.pay_decisions,
            "undecided": after.undecided,
        }, _lines(collection, before, after, options)


def _lines(
    collection: Collection, before: FinishingReport, after: FinishingReport, options: dict[str, Any]
) -> list[str]:
    parameters = parameters_of(collection)

    def amount(cents: int) -> str:
        return price(cents, parameters)

    if options["dry_run"]:
        ahead = ["It would be paused."] if options["reopen"] else before.ahead(amount)
        return [*ahead, "Nothing was changed."]
    if options["reopen"]:
        return [f"Reopened, paused. Hand out work: {MANAGE} publish {collection.slug}"]
    rest = after.remaining(amount, after=True) or ["Nothing stays to be done."]
    return ["Finished. Nobody gets new work.", *rest]
