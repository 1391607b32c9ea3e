"""Reads books into a corpus, and the tables that NarrativeQA publishes about them."""

from argparse import ArgumentParser
from typing import Any

import orjson

from collector.ingest.books.ingestion import (
    PASSAGE_TOKENS,
    BookOptions,
    IngestReport,
    Report,
    ingest_books,
)
from collector.ingest.ingestion import IngestCommand, corpus_options, counted, told_in_one_line
from collector.language_names import language_name
from common.command_line import MANAGE, whole


class Command(IngestCommand):
    """Prints one line per book, or one JSON object with `--json`."""

    help = (
        "Read books into a corpus: plain texts, Project Gutenberg's among them, screenplays, pages "
        "in HTML; and NarrativeQA's documents.csv, qaps.csv and summaries.csv about them. Licences "
        "are cut off and kept beside. Stop it at any time: the same command goes on after the "
        "last book.\n\n"
        f"Example: {MANAGE} ingest_books books/*.txt documents.csv qaps.csv summaries.csv "
        "--corpus gutenberg"
    )

    files_are = "book, or .csv"
    texts = "texts"

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options."""
        super().add_arguments(parser)
        parser.add_argument(
            "--passage-tokens",
            type=whole(1, 100_000),
            default=PASSAGE_TOKENS,
            help=f"tokens of a passage (default: {PASSAGE_TOKENS})",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Ingest the books; exit code 0 only when all are stored."""
        with told_in_one_line("book"):
            done = self._ingest(options) if options["json"] else self._with_progress(options)
        self._print(done, as_json=options["json"])

    def _ingest(self, options: dict[str, Any], report: Report = lambda *told: None) -> IngestReport:
        return ingest_books(
            options["files"],
            corpus_options(options),
            BookOptions(options["passage_tokens"]),
            processes=options["processes"],
            report=report,
        )

    def _with_progress(self, options: dict[str, Any]) -> IngestReport:
        with counted() as report:
            return self._ingest(options, report)

    def _print(self, done: IngestReport, *, as_json: bool) -> None:
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
            f"{language_name(corpus.language)}, licence {corpus.licence_name}."
        )
        if corpus.licence_name == "unknown":
            self.stdout.write("Name the licence of the texts: run this again with --licence.")

    def _tell_what_else(self, done: IngestReport) -> None:
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
