"""Decides by agreement which questions are kept."""

import json
from argparse import ArgumentParser
from io import StringIO
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db.models import Count
from django.utils import timezone
from rich.console import Console
from rich.table import Table

from annotation.decisions.counted_work import counted_without
from annotation.decisions.verdicts import decide_collection
from annotation.models import Verdict
from collector.lookup import collection_named
from collector.models import Collection
from collector.protocols.loading import ProtocolError
from common.command_line import MANAGE


class Command(BaseCommand):
    """validate_answers NAME."""

    help = (
        "Decide by agreement which questions are kept, and print how many, by reason. Verdicts "
        f"that a requester overrode stay. Example: {MANAGE} validate_answers pilot"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("name")
        parser.add_argument("--json", action="store_true", help="print the result as JSON")

    def handle(self, **options: Any) -> None:
        """Decide, or say in one line why not."""
        collection = collection_named(options["name"])
        try:
            with Console(stderr=True).status("Comparing answers"):
                changed = decide_collection(collection, timezone.now())
        except ProtocolError as error:
            raise CommandError(str(error)) from None
        outcomes = _outcomes(collection)
        if options["json"]:
            self.stdout.write(json.dumps({"changed": changed, "outcomes": outcomes}))
            return
        table = Table("Outcome", "Reason", title=f"Verdicts of {collection.title}")
        table.add_column("Questions", justify="right")
        for row in outcomes:
            table.add_row(row["outcome"], row["reason"], str(row["questions"]))
        console = Console(file=StringIO(), force_terminal=self.stdout.isatty(), width=100)
        console.print(table)
        self.stdout.write(console.file.getvalue())  # type: ignore[attr-defined]
        self.stdout.write(f"{changed} verdicts are new or changed.")


def _outcomes(collection: Collection) -> list[dict[str, Any]]:
    rows = (
        Verdict.objects.filter(
            counted_without(frozenset(), "question__"), question__stage__collection=collection
        )
        .values("outcome", "reason")
        .annotate(questions=Count("pk"))
        .order_by("-outcome", "reason")
    )
    return [dict(row) for row in rows]
