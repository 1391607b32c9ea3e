"""Reads MediaWiki XML dumps into a corpus."""

from pathlib import Path
from typing import Any

import orjson

from collector.code_points import CodePoints
from collector.ingest.ingestion import (
    CorpusOptions,
    IngestCommand,
    Progress,
    corpus_options,
    ingest_files,
    told_in_one_line,
)
from collector.language_names import language_name
from collector.models import Corpus
from common.command_line import MANAGE


class Command(IngestCommand):
    """Prints one line per file, or one JSON object with `--json`."""

    help = (
        "Read MediaWiki XML dumps (.xml, .bz2, .gz) into a corpus. Stop it at any time: the same "
        "command goes on after the last page.\n\n"
        f"Example: {MANAGE} ingest_dump simplewiki-20260101-pages-articles.xml.bz2 "
        "--corpus simple-2026"
    )

    files_are = "dump to read"

    def handle(self, *args: Any, **options: Any) -> None:
        """Ingest the files; exit code 0 only when all were read to their end."""
        wanted = corpus_options(options)
        with told_in_one_line("page"):
            if options["json"]:
                corpus = ingest_files(options["files"], wanted, processes=options["processes"])
            else:
                corpus = self._with_progress(options["files"], wanted, options["processes"])
        self._print(corpus, as_json=options["json"])

    def _with_progress(self, files: list[Path], wanted: CorpusOptions, processes: int) -> Corpus:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bars

        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f}% {task.fields[rate]}"),
            TimeRemainingColumn(),
        )
        with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
            tasks: dict[str, Any] = {}

            def report(progress: Progress) -> None:
                if progress.file not in tasks:
                    tasks[progress.file] = bars.add_task(progress.file, total=1.0, rate="")
                bars.update(tasks[progress.file], completed=progress.share, rate=_rate(progress))

            return ingest_files(files, wanted, processes=processes, report=report)

    def _print(self, corpus: Corpus, *, as_json: bool) -> None:
        if as_json:
            found = {
                "corpus": corpus.slug,
                "state": corpus.state,
                "language": corpus.language,
                "direction": corpus.direction,
                "licence": corpus.licence_name,
                "counts": corpus.counts,
                "files": {
                    file.name: file.counts
                    for file in corpus.dump_files.order_by(CodePoints("name"))
                },
            }
            self.stdout.write(orjson.dumps(found).decode())
            return
        counts = corpus.counts
        self.stdout.write(
            f"{corpus.slug}: {counts.get('articles', 0):,} articles, "
            f"{counts.get('redirects', 0):,} redirects, "
            f"{counts.get('paragraphs', 0):,} paragraphs, "
            f"{counts.get('links', 0):,} links; {counts.get('skipped', 0):,} pages skipped; "
            f"{language_name(corpus.language)}, licence {corpus.licence_name}."
        )
        if n_formulas := counts.get("formulas_left_out", 0):
            self.stdout.write(
                f"{n_formulas:,} formulas and measures are left out: they cannot be written."
            )
        if corpus.licence_name == "unknown":
            self.stdout.write("Name the licence of the text: run this again with --licence.")


def _rate(progress: Progress) -> str:
    if progress.n_resolved is not None:
        return f"{progress.n_resolved:,} paragraphs"
    seconds = max(progress.seconds, 1e-6)
    return f"{progress.pages / seconds:,.0f} pages/s {progress.n_bytes / seconds / 1e6:.1f} MB/s"
