"""Decides by agreement which questions are kept."""

from argparse import ArgumentParser
from typing import Any

from django.db.models import Count
from django.utils import timezone
from rich.console import Console
from rich.table import Table

from annotation.decisions.counted_work import counted_without
from annotation.decisions.verdicts import decide_collection
from annotation.models import Verdict
from collector.lookup import collection_named
from collector.protocols.loading import ProtocolError
from common.command_line import MANAGE, Printout, ResultCommand


class Command(ResultCommand):
    """validate_answers NAME."""

    help = (
        "Decide by agreement which questions are kept, and print how many, by reason. Verdicts "
        f"that a requester overrode stay. Example: {MANAGE} validate_answers pilot"
    )

    refusals = (ProtocolError,)

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("name")

    def result(self, options: dict[str, Any]) -> Printout:
        """Decide, or say in one line why not."""
        collection = collection_named(options["name"])
        with Console(stderr=True).status("Comparing answers"):
            changed = decide_collection(collection, timezone.now())
        rows = (
            Verdict.objects.filter(
                counted_without(frozenset(), "question__"), question__stage__collection=collection
            )
            .values("outcome", "reason")
            .annotate(questions=Count("pk"))
            .order_by("-outcome", "reason")
        )
        outcomes = [dict(row) for row in rows]
        table = Table("Outcome", "Reason", title=f"Verdicts of {collection.title}")
        table.add_column("Questions", justify="right")
        for row in outcomes:
            table.add_row(str(row["outcome"]), str(row["reason"]), str(row["questions"]))
        lines = [self.table_text(table), f"{changed} verdicts are new or changed."]
        return {"changed": changed, "outcomes": outcomes}, lines
