"""Changes pay, places and budget of a collection, recorded with a reason."""

from argparse import ArgumentParser
from decimal import Decimal
from typing import Any

from django.core.management.base import CommandError
from django.db import transaction
from django.utils import timezone

from collector.lookup import collection_named
from collector.models import Collection
from collector.protocols.creation import Revision, parameters_of, planned, revise
from collector.protocols.loading import ProtocolError
from collector.protocols.parameters import assignment
from common.actions import ActionError
from common.command_line import MANAGE, Printout, ResultCommand, amount
from tasks.costs import estimate, live_hits, totals, totals_from_now
from tasks.crowd.requester_api import MarketplaceError
from tasks.lifecycle.publication import raise_budget
from tasks.pages.wording import price
from tasks.people.trusted import check_groups


class Command(ResultCommand):
    """change_collection NAME --set KEY=VALUE --why REASON."""

    help = (
        "Change what a collection pays, how many HITs stand open at a time, its budget; before the "
        "first publication anything. HITs that are up keep their pay.\n\nExample:\n"
        f"  {MANAGE} change_collection pilot --set question.reward_cents=500 "
        '--why "It takes longer than we thought."'
    )

    refusals = (ValueError, ActionError, ProtocolError, MarketplaceError)

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("name")
        parser.add_argument(
            "--set",
            action="append",
            default=[],
            metavar="KEY=VALUE",
            help="a parameter, such as question.reward_cents=500; may be given several times",
        )
        parser.add_argument("--budget", type=amount, help="the new hard cap, in currency units")
        parser.add_argument("--why", default="", help="the reason, kept in the history")
        parser.add_argument("--by", default="the command line", help="who is named in the history")
        parser.add_argument("--dry-run", action="store_true", help="only say what it would change")

    def result(self, options: dict[str, Any]) -> Printout:
        """Change it, or say in one line why not; the costs before and after are printed."""
        collection = collection_named(options["name"])
        if not options["set"] and options["budget"] is None:
            raise CommandError("Nothing to change: give --set KEY=VALUE or --budget AMOUNT.")
        wanted = dict(assignment(text) for text in options["set"])
        cents = _cents(options["budget"], collection)
        revision = planned(collection, wanted) if wanted else None
        if revision:
            check_groups(_new_groups(revision))
        changed = revision.applied_to(collection) if revision else collection
        before, after = totals(collection, estimate(collection)), totals_from_now(changed)
        changes = revision.changes if revision else []
        told = {
            "collection": collection.slug,
            "changes": [
                {"key": change.key, "old": change.old, "new": change.new} for change in changes
            ],
            "maximum_total_cents": {"before": before.maximum, "after": after.maximum},
            "expected_cents": {"before": before.expected, "after": after.expected},
            "budget_cents": collection.budget_cents if cents is None else cents,
            "hits_up": _kept(collection, revision),
            "seeds_let_go": revision.lost_seeds if revision else 0,
        }
        if not options["dry_run"]:
            now, who = timezone.now(), {"why": options["why"], "by": options["by"][:150]}
            with transaction.atomic():
                if wanted:
                    revise(collection, wanted, now=now, **who)
                if cents is not None:
                    raise_budget(collection, cents, now=now, **who)
        return told, _lines(collection, told, dry=options["dry_run"])


def _new_groups(revision: Revision) -> list[str]:
    """Return the groups that the change names, none where it is about other things."""
    keys = [change.key for change in revision.changes]
    return revision.parameters.people.groups if "people.groups" in keys else []


def _cents(amount: Decimal | None, collection: Collection) -> int | None:
    """Return the budget in whole cents, None for none."""
    if amount is None:
        return None
    return round(amount * 10 ** parameters_of(collection).pay.minor_units)


def _kept(collection: Collection, revision: Revision | None) -> int:
    """Return how many HITs of the stages that change are up: they stay as they are."""
    touched = {change.key.partition(".")[0] for change in revision.changes} if revision else set()
    live, stages = live_hits(collection), collection.stages.all()
    # Whom the work is for is stated by the HITs of every stage.
    of = stages if "people" in touched else stages.filter(name__in=touched)
    return sum(live.get(stage.pk, 0) for stage in of)


def _lines(collection: Collection, told: dict[str, Any], *, dry: bool) -> list[str]:
    parameters = parameters_of(collection)
    most, expected = told["maximum_total_cents"], told["expected_cents"]
    lines = [f"{each['key']}: {each['old']} -> {each['new']}" for each in told["changes"]]
    lines += [
        f"Maximum total: {price(most['before'], parameters)} -> {price(most['after'], parameters)}",
        f"Expected:      {price(expected['before'], parameters)} -> "
        f"{price(expected['after'], parameters)}",
        f"Budget:        {price(told['budget_cents'], parameters)}",
    ]
    if told["hits_up"]:
        lines.append(f"HITs that are up and keep what they pay: {told['hits_up']}.")
    if told["seeds_let_go"]:
        lines.append(
            f"{told['seeds_let_go']} seeds were chosen under other values and are let go: "
            f"{MANAGE} select_seeds {collection.slug}"
        )
    lines.append("Nothing was changed." if dry else "Changed for everything posted from now on.")
    return lines
