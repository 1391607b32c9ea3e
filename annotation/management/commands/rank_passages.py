"""Ranks passages of books for their questions, and writes what rankers are trained with."""

import shutil
from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from annotation.metrics.result import ScoreError
from annotation.protocols.contracts import RANKERS, Ranks
from annotation.release.release_files import kept_anew, kept_folder
from annotation.tables.terminal import table_lines
from collector.models import Corpus
from collector.protocols.loading import ProtocolError, get_protocol
from collector.protocols.parameters import assignment
from common.command_line import MANAGE, Printout, ResultCommand, seed


class Command(ResultCommand):
    """rank_passages CORPUS --protocol NAME."""

    help = (
        "Print how much of the answers the first passages of each ranker hold; with --out write "
        "the passages, what BM25 finds for each question, and two files to train rankers with. "
        f"Example: {MANAGE} rank_passages gutenberg --protocol NAME --out ranking "
        "--ranking mine.jsonl"
    )

    json_help = "numbers unrounded, by table"

    refusals = (ProtocolError, ScoreError, ValueError, OSError)

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("corpus", help="a corpus of books with questions: see ingest_books")
        parser.add_argument("--protocol", required=True, metavar="NAME")
        parser.add_argument("--out", type=Path, metavar="DIR", help="a new folder for the files")
        parser.add_argument(
            "--keep",
            action="store_true",
            help="also keep the files: each later release of a collection over the corpus has them",
        )
        parser.add_argument(
            "--ranking",
            type=Path,
            action="append",
            default=[],
            metavar="FILE",
            help='an outside ranker, named by its file: lines {"id": …, "passages": [best first]}',
        )
        parser.add_argument(
            "--labels",
            type=Path,
            metavar="CSV",
            help="break down by label: the column id and the facets of the protocol's labels",
        )
        parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
        parser.add_argument("--seed", type=seed, default=0, help="of what is drawn (default: 0)")

    def result(self, options: dict[str, Any]) -> Printout:
        """Rank, or say in one line why not."""
        corpus = Corpus.objects.filter(slug=options["corpus"]).first()
        if corpus is None:
            raise CommandError(f"There is no corpus {options['corpus']!r}: see ingest_books.")
        rankings = {path.stem: path for path in options["ranking"]}
        if len(rankings) < len(options["ranking"]):
            raise CommandError("Two rankings are called alike: give their files different names.")
        try:
            done = self._ranked(corpus, rankings, options)
        except FileExistsError:
            raise CommandError(f"{options['out']} is there already: name a new folder.") from None
        folder = options["out"] or kept_folder(options["protocol"], corpus)
        tables = {table.name: table.plain() for table in done.tables}
        return {**tables, "written": done.written}, [
            table_lines(done.tables, in_colour=self.stdout.isatty()),
            *(f"{folder / name}: {number:,} lines" for name, number in done.written.items()),
        ]

    def _ranked(self, corpus: Corpus, rankings: dict[str, Path], options: dict[str, Any]) -> Ranks:
        protocol = get_protocol(options["protocol"])
        parameters = protocol.parameters(dict(assignment(each) for each in options["set"]))
        seed, labels = options["seed"], options["labels"]
        rank = protocol.part(RANKERS).rank

        def run(report: Callable[[int, int], object]) -> Ranks:
            if not options["keep"]:
                return rank(corpus, parameters, rankings, options["out"], seed, report, labels)
            with kept_anew(protocol, corpus) as folder:
                done = rank(corpus, parameters, rankings, folder, seed, report, labels)
                if options["out"]:
                    shutil.copytree(folder, options["out"])
            return done

        if options["json"]:
            return run(lambda done, total: None)
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        columns = TextColumn("books"), BarColumn(), MofNCompleteColumn()
        with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
            task = bars.add_task("books")
            return run(lambda done, total: bars.update(task, completed=done, total=total))
