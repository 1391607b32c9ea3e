"""Reads MediaWiki XML dumps into a corpus."""

from functools import partial
from typing import Any

from collector.code_points import CodePoints
from collector.ingest.ingestion import CorpusOptions, IngestCommand, Progress, ingest_files
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

    def read(
        self, options: dict[str, Any], wanted: CorpusOptions
    ) -> tuple[Corpus, dict[str, Any], list[str]]:
        """Ingest the files, all to their end."""
        read = partial(ingest_files, options["files"], wanted, processes=options["processes"])
        if options["json"]:
            corpus = read()
        else:
            from rich.console import Console
            from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as Bars

            columns = (
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.percentage:>3.0f}% {task.fields[rate]}"),
                TimeRemainingColumn(),
            )
            tasks: dict[str, Any] = {}
            with Bars(*columns, console=Console(stderr=True), transient=True) as bars:

                def report(progress: Progress) -> None:
                    file = progress.file
                    if file not in tasks:
                        tasks[file] = bars.add_task(file, total=1.0, rate="")
                    bars.update(tasks[file], completed=progress.share, rate=_rate(progress))

                corpus = read(report=report)
        counts = corpus.counts
        lines = [
            f"{corpus.slug}: {counts.get('articles', 0):,} articles, "
            f"{counts.get('redirects', 0):,} redirects, "
            f"{counts.get('paragraphs', 0):,} paragraphs, "
            f"{counts.get('links', 0):,} links; {counts.get('skipped', 0):,} pages skipped; "
            f"{language_name(corpus.language)}, licence {corpus.licence_name}."
        ]
        if n_formulas := counts.get("formulas_left_out", 0):
            lines.append(
                f"{n_formulas:,} formulas and measures are left out: they cannot be written."
            )
        files = corpus.dump_files.order_by(CodePoints("name"))
        return corpus, {"files": {file.name: file.counts for file in files}}, lines


def _rate(progress: Progress) -> str:
    if progress.n_resolved is not None:
        return f"{progress.n_resolved:,} paragraphs"
    seconds = max(progress.seconds, 1e-6)
    return f"{progress.pages / seconds:,.0f} pages/s {progress.n_bytes / seconds / 1e6:.1f} MB/s"
