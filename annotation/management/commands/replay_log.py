"""Makes a release again, byte for byte, from the private log of its collection."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.utils import timezone
from rich.console import Console
from rich.progress import Progress

from annotation.release.log import Log, LogError
from annotation.replay.read_log import read_log
from annotation.replay.remake_release import RemadeRelease, remake
from collector.models import Corpus
from collector.protocols.loading import ProtocolError
from common.actions import ActionError
from common.command_line import MANAGE, Printout, ResultCommand
from tasks.crowd.requester_api import MarketplaceError
from tasks.simulation.browser import StuckError, UnreachableError, check_reachable

REFUSALS = (
    *(LogError, ActionError, ProtocolError, ValueError),
    *(StuckError, UnreachableError, MarketplaceError),
)


class Command(ResultCommand):
    """replay_log FILE [--corpus SLUG] [--out DIR]."""

    help = (
        "Do everything again that a log of export_dataset --log holds, in its order and through "
        "the marketplace's real pages, in an empty database over the same corpus; then decide, "
        f"split, release, and compare every file. Example: {MANAGE} replay_log pilot.log.jsonl"
    )

    refusals = REFUSALS

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("log", type=Path)
        parser.add_argument("--corpus", default="", help="the corpus, where its name has changed")
        parser.add_argument("--out", type=Path, metavar="DIR", help="a new folder for the release")

    def result(self, options: dict[str, Any]) -> Printout:
        """Replay, or say in one line why not; files that differ are an error too."""
        log = read_log(options["log"])
        corpus = self._corpus(options["corpus"] or log.collection.corpus)
        check_reachable()
        made = self._remade(log, corpus, options["out"])
        folder = made.issued.folder
        value = {"folder": str(folder), "files": log.files, "different": made.different}
        if made.different:
            self.problem = f"{folder}: these files differ: {', '.join(made.different)}."
            return value, ()
        count = len(log.assignments)
        equal = f"{count} assignments again; all {len(log.files)} files are equal."
        return value, [equal, str(folder)]

    def _corpus(self, slug: str) -> Corpus:
        corpus = Corpus.objects.filter(slug=slug, state="ready").first()
        if corpus is None:
            raise LogError(
                f"There is no corpus {slug!r}: read in the same dump under that name "
                f"({MANAGE} ingest_dump), with the same options."
            )
        return corpus

    def _remade(self, log: Log, corpus: Corpus, out: Path | None) -> RemadeRelease:
        console = Console(stderr=True)
        with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
            task = progress.add_task("Working", total=len(log.events()))
            return remake(log, corpus, out, timezone.now(), lambda: progress.advance(task))
