"""Points the pages of HITs to another address, when the requester's site has moved."""

from argparse import ArgumentParser
from typing import Any
from urllib.parse import urlsplit

from django.core.management.base import CommandError
from django.db.models import F, Value
from django.db.models.functions import Replace, Substr

from common.command_line import MANAGE, Printout, ResultCommand
from marketplace.models import HIT

LONGEST_ANNOTATION = 255


class Command(ResultCommand):
    """`move_questions http://localhost:8000 http://localhost:8001`."""

    help = (
        "Show the pages of every HIT at OLD from NEW on: the requester's site has moved.\n"
        "Workers who are at it go on there. Run again, it finds nothing more to do.\n\nExample:\n"
        f"  {MANAGE} move_questions http://localhost:8000 http://localhost:8001"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the command's arguments."""
        parser.add_argument("old", help="where the pages were, such as http://localhost:8000")
        parser.add_argument("new", help="where they are now")
        parser.add_argument("--requester", default="", help="whose HITs; otherwise everybody's")

    def result(self, options: dict[str, Any]) -> Printout:
        """Move them and print how many there were, or say in one line why not."""
        old, new = (_origin(options[name]) for name in ("old", "new"))
        # A page's address always has a slash after its host: other ports are other sites.
        before, after = Value(f"{old}/"), Value(f"{new}/")
        hits = HIT.objects.all()
        if options["requester"]:
            hits = hits.filter(requester__name=options["requester"])
        moved = (
            hits.filter(external_url__startswith=f"{old}/")
            .exclude(external_url__startswith=f"{new}/")
            .update(
                external_url=Replace(F("external_url"), before, after),
                question=Replace(F("question"), before, after),
                annotation=Substr(Replace(F("annotation"), before, after), 1, LONGEST_ANNOTATION),
            )
        )
        lines = [f"{moved} HITs moved from {old} to {new}."] if options["verbosity"] else []
        return {"moved": moved}, lines


def _origin(address: str) -> str:
    """Return an address without its last slash; raises CommandError for anything else."""
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query:
        raise CommandError(f"{address!r}: write an address such as http://localhost:8000.")
    return address.rstrip("/")
