"""Forgets a person who asks for it."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError
from django.db.models import Q
from django.utils import timezone

from common.actions import ActionError
from common.command_line import MANAGE, Printout, ResultCommand
from tasks.crowd import marketplace
from tasks.crowd.requester_api import MarketplaceError
from tasks.models import Identity
from tasks.models.people import ARCHIVE
from tasks.paying.compensation import take_down
from tasks.people.erasure import forget


class Command(ResultCommand):
    """erase_worker PERSON [--withdraw] [--waive]."""

    help = (
        "Forget a person: identity, drafts, preferences, messages, and what was said of them. What "
        "they made stays, unless --withdraw is given. Their place in a round of prizes that is not "
        "over goes to the next. Whoever comes back is a new worker: nothing tells any more which "
        "questions are their own, so they may be handed those to answer. "
        f"Example: {MANAGE} erase_worker A2B3C4D5 --withdraw"
    )

    refusals = (ActionError, MarketplaceError)

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("person", help="the person's id on the marketplace")
        parser.add_argument(
            "--withdraw",
            action="store_true",
            help="also keep what they made out of every later release",
        )
        parser.add_argument(
            "--waive",
            action="store_true",
            help="owe them no more what only an open account can be paid, as they wish: what the "
            "marketplace refused, and the HITs that pay them alone; the budget has it back",
        )

    def result(self, options: dict[str, Any]) -> Printout:
        """Forget them, or say in one line why not yet."""
        identity = (
            Identity.objects.select_related("worker")
            .filter(
                Q(provider=marketplace.PROVIDER, environment=marketplace.environment())
                | Q(provider=ARCHIVE),
                person=options["person"],
            )
            .order_by("provider")
            .first()
        )
        if identity is None:
            raise CommandError(f"Nobody here is known as {options['person']!r}.")
        worker, waive = identity.worker, options["waive"]
        if waive:
            take_down(worker)
        forget(worker, timezone.now(), withdraw=options["withdraw"], waive=waive)
        done = {"forgotten": options["person"], "withdrawn": options["withdraw"]}
        return done, [
            "Forgotten. "
            + ("The next release leaves their work out." if options["withdraw"] else "")
        ]
