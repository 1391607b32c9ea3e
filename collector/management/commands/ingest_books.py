"""Reads books into a corpus, and the tables that NarrativeQA publishes about them."""

import os
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path
from typing import Any

import orjson
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from collector.ingest.books.ingestion import (
    PASSAGE_TOKENS,
    BookOptions,
    Ingested,
    Report,
    ingest_books,
)
from collector.ingest.errors import BookError, DumpError
from collector.ingest.ingestion import CorpusOptions
from collector.ingest.licences import ADDRESSES
from collector.ingest.store import storing_failure
from common.arguments import processes, whole
from common.command_line import MANAGE


class Command(BaseCommand):
    """Prints one line per book, or one JSON object with `--json`."""

    help = (
        "Read books into a corpus: plain texts, Project Gutenberg's among them, screenplays, pages "
        "in HTML; and NarrativeQA's documents.csv, qaps.csv and summaries.csv about them. Licences "
        "are cut off and kept beside. Stop it at any time: the same command goes on after the "
        "last book.\n\n"
        f"Example: {MANAGE} ingest_books books/*.txt documents.csv qaps.csv summaries.csv "
        "--corpus gutenberg"
    )

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> Any:
        """Return Django's parser, with the example on a line of its own."""
        kwargs["formatter_class"] = RawDescriptionHelpFormatter
        return super().create_parser(prog_name, subcommand, **kwargs)

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options."""
        parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="book, or .csv")
        parser.add_argument("--corpus", required=True, help="slug of the corpus, new or not")
        parser.add_argument("--name", default="", help="the corpus's name, as people read it")
        parser.add_argument("--language", default="", help="code, if a header names a wrong one")
        parser.add_argument(
            "--licence",
            default="",
            help=f"licence of the texts: {', '.join(ADDRESSES)}, or any name with --licence-url",
        )
        parser.add_argument("--licence-url", default="", help="address of the licence's text")
        parser.add_argument(
            "--passage-tokens",
            type=whole(1, 100_000),
            default=PASSAGE_TOKENS,
            help=f"tokens of a passage (default: {PASSAGE_TOKENS})",
        )
        parser.add_argument(
            "--processes", type=processes, default=os.cpu_count() or 1, help="default: one per core"
        )
        parser.add_argument(
            "--json", action="store_true", help="print one JSON object, no progress"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Ingest the books; exit code 0 only when all are stored."""
        try:
            done = self._ingest(options) if options["json"] else self._with_progress(options)
        except (BookError, DumpError) as error:
            raise CommandError(str(error)) from error
        except (DatabaseError, OSError) as error:
            raise CommandError(storing_failure(error)) from error
        except KeyboardInterrupt:
            raise CommandError("stopped; the same command goes on after the last book.") from None
        self._print(done, as_json=options["json"])

    def _ingest(self, options: dict[str, Any], report: Report = lambda *told: None) -> Ingested:
        corpus = CorpusOptions(
            slug=options["corpus"],
            name=options["name"],
            language=options["language"],
            licence=options["licence"],
            licence_url=options["licence_url"],
        )
        return ingest_books(
            options["files"],
            corpus,
            BookOptions(options["passage_tokens"]),
            processes=options["processes"],
            report=report,
        )

    def _with_progress(self, options: dict[str, Any]) -> Ingested:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
        with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
            tasks: dict[str, Any] = {}

            def report(what: str, done: int, total: int) -> None:
                if what not in tasks:
                    tasks[what] = bars.add_task(what, total=total)
                bars.update(tasks[what], completed=done)

            return self._ingest(options, report)

    def _print(self, done: Ingested, *, as_json: bool) -> None:
        corpus, counts = done.corpus, done.corpus.counts
        books = corpus.books.filter(document__in=done.stored).prefetch_related("article")
        rows = {
            book.document: {
                "file": book.file_name,
                "title": book.article.title,
                "encoding": book.encoding,
                "chapters": book.chapters.count(),
                "passages": book.passages.count(),
                "tokens": book.n_tokens,
                "questions": book.questions.count(),
            }
            for book in books.defer("front", "text", "back")
        }
        if as_json:
            found = {
                "corpus": corpus.slug,
                "state": corpus.state,
                "language": corpus.language,
                "direction": corpus.direction,
                "licence": corpus.licence_name,
                "counts": counts,
                "books": rows,
                "passed_over": done.passed_over,
                "marks_missing": done.marks_missing,
                "rows_of_other_documents": done.others,
            }
            self.stdout.write(orjson.dumps(found).decode())
            return
        for row in rows.values():
            self.stdout.write(
                f"{row['title']}: {row['tokens']:,} tokens, {row['passages']:,} passages, "
                f"{row['chapters']:,} chapters, {row['questions']:,} questions ({row['encoding']})"
            )
        self._tell_what_else(done)
        self.stdout.write(
            f"{corpus.slug}: {counts['books']:,} books, {counts['chapters']:,} chapters, "
            f"{counts['passages']:,} passages, {counts['tokens']:,} tokens, "
            f"{counts['questions']:,} questions, {counts['summaries']:,} summaries; "
            f"{corpus.language}, licence {corpus.licence_name}."
        )
        if corpus.licence_name == "unknown":
            self.stdout.write("Name the licence of the texts: run this again with --licence.")

    def _tell_what_else(self, done: Ingested) -> None:
        if done.passed_over:
            self.stdout.write(f"{len(done.passed_over):,} books were in the corpus already.")
        if done.marks_missing:
            books = done.corpus.books.filter(document__in=done.marks_missing)
            names = ", ".join(books.order_by("pk").values_list("article__title", flat=True)[:5])
            self.stdout.write(
                f"{len(done.marks_missing):,} books without the words that their story begins or "
                f"ends with, cut by their licence alone: {names}."
            )
        if done.others:
            self.stdout.write(f"{done.others:,} rows are of documents whose books were not given.")
