"""Proposes candidate sets for a collection whose seeds are pairs of pages."""

from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone

from collector.candidates.candidate_sets import (
    UNSEEN,
    AddedSets,
    CandidatesError,
    Proposal,
    Proposer,
    add_sets,
    propose_defaults,
    titles_in,
)
from collector.graph.graph_file import GraphError
from collector.lookup import collection_named
from collector.models import Collection, SetRole
from collector.protocols.creation import parameters_of
from collector.protocols.loading import ProtocolError
from collector.seeds.selection import is_curated
from common.command_line import MANAGE, Printout, ResultCommand, whole


class Command(ResultCommand):
    """import_candidates NAME [FILES…] [--category …] [--list-page …]."""

    help = (
        "Propose pages that pairs are drawn from: files with one title a line (the file's name is "
        "the set's), categories, list pages, another collection's sets. "
        f"Example: {MANAGE} import_candidates pilot bands.txt --category 'Grammy Award winners'"
    )

    refusals = (CandidatesError, GraphError, ProtocolError, OSError)

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("name")
        parser.add_argument("files", nargs="*", type=Path)
        parser.add_argument("--role", choices=SetRole.values, default=SetRole.BRIDGE)
        parser.add_argument("--category", action="append", default=[], metavar="TITLE")
        parser.add_argument("--list-page", action="append", default=[], metavar="TITLE")
        parser.add_argument("--from", dest="other", default="", metavar="COLLECTION")
        parser.add_argument("--defaults", action="store_true", help="what no set at all would give")
        parser.add_argument(
            "--most-linked",
            type=whole(0, 10**9),
            help="the most pages of a category, 0 for no cut",
        )
        parser.add_argument("--keep", action="store_true", help="keep them without a look")

    def result(self, options: dict[str, Any]) -> Printout:
        """Propose them, or say in one line why not."""
        collection = collection_named(options["name"])
        if not is_curated(collection):
            raise CommandError(
                f"The protocol {collection.protocol!r} draws no pairs from candidate sets."
            )
        added = self._added(collection, options)
        new = [
            {
                "role": each.role,
                "name": each.name,
                "source": each.source,
                "pages": each.members.count(),
                "missing": each.n_missing,
                "state": each.state,
            }
            for each in added.new
        ]
        lines = []
        for each in new:
            missing = f", {each['missing']} titles lead nowhere" if each["missing"] else ""
            lines.append(
                f"{each['role']:<10} {each['pages']:>7,} pages{missing}  "
                f"{each['name']} ({each['state']})"
            )
        if added.there:
            lines.append(f"There already, and left as they are: {', '.join(added.there)}.")
        return {"new": new, "there": added.there}, lines

    def _added(self, collection: Collection, options: dict[str, Any]) -> AddedSets:
        parameters: Any = parameters_of(collection)
        if options["defaults"]:
            return propose_defaults(collection, parameters.seeds, timezone.now(), options["keep"])
        most = options["most_linked"]
        if most is None:
            most = parameters.seeds.most_linked if options["role"] == SetRole.BRIDGE else 0
        proposals = list(_proposals(collection, options, most))
        if not proposals:
            raise CommandError(
                "Nothing was named: give files of titles, --category, --list-page, --from or "
                "--defaults."
            )
        kept_by = UNSEEN if options["keep"] else ""
        return add_sets(collection, Proposer(collection.corpus), proposals, timezone.now(), kept_by)


def _proposals(
    collection: Collection, options: dict[str, Any], most_linked: int
) -> Iterator[Proposal]:
    """Yield a proposal for everything that was named; raises CandidatesError or OSError."""
    role = options["role"]
    whole, cut = Proposer(collection.corpus), Proposer(collection.corpus, most_linked)
    for path in options["files"]:
        yield whole.titles(role, path.stem, titles_in(path.read_bytes(), path.name), path.name)
    for title in options["category"]:
        yield cut.category(role, title)
    for title in options["list_page"]:
        yield whole.list_page(role, title)
    if options["other"]:
        yield from whole.copies(collection_named(options["other"]))
