"""Lets people in without the qualification test, or takes it back."""

from argparse import ArgumentParser
from typing import Any

from django.utils import timezone

from collector.lookup import collection_named
from collector.protocols.loading import ProtocolError
from common.actions import ActionError
from common.command_line import MANAGE, Printout, ResultCommand
from tasks.crowd.requester_api import MarketplaceError
from tasks.people import trusted
from tasks.people.qualifications import trusted_grants


class Command(ResultCommand):
    """let_in NAME PERSON… [--group GROUP]."""

    help = (
        "Let people whom you trust in without the qualification test: they are given the "
        "qualification at once and are not offered its test. Of a group everybody who is in it "
        f'now. Example: {MANAGE} let_in pilot A2B3C4D5 --group "Lab panel"'
    )

    refusals = (ActionError, MarketplaceError, ProtocolError)

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("name")
        parser.add_argument("people", nargs="*", help="their ids on the marketplace")
        parser.add_argument("--group", action="append", default=[], help="everybody in this group")
        parser.add_argument("--stage", default="", help="spare them this test alone")
        parser.add_argument("--take-back", action="store_true", help="they need the test again")
        parser.add_argument("--by", default="the command line", help="who is kept with it")

    def result(self, options: dict[str, Any]) -> Printout:
        """Let them in, or say in one line why not."""
        collection, by, now = collection_named(options["name"]), options["by"][:150], timezone.now()
        stages = trusted.qualifying(collection, options["stage"])
        people = trusted.people_named(options["people"], options["group"])
        if not people:
            raise ActionError("Name somebody, or give --group.")
        if options["take_back"]:
            grants = trusted_grants(collection).filter(
                qualification__stage__in=stages, worker__identity__person__in=people
            )
            done = trusted.take_back(collection, grants, by, now)
        else:
            done = trusted.let_in(collection, stages, people, by, now)
        if options["take_back"]:
            told = f"Taken back from {done}: they may take the test like anybody."
        else:
            already = len(people) - done
            had = f" {already} had it already." if already else ""
            told = f"{done} let in without a test.{had}"
        return {"named": len(people), "changed": done}, [told]
