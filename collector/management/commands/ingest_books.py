"""Reads books into a corpus, and the tables that NarrativeQA publishes about them."""

from argparse import ArgumentParser
from typing import Any

from collector.ingest.books.ingestion import (
    PASSAGE_TOKENS,
    BookOptions,
    ingest_books,
)
from collector.ingest.ingestion import CorpusOptions, IngestCommand, counted
from collector.language_names import language_name
from collector.models import Corpus
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
    one = "book"

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options."""
        super().add_arguments(parser)
        parser.add_argument(
            "--passage-tokens",
            type=whole(1, 100_000),
            default=PASSAGE_TOKENS,
            help=f"tokens of a passage (default: {PASSAGE_TOKENS})",
        )

    def read(
        self, options: dict[str, Any], wanted: CorpusOptions
    ) -> tuple[Corpus, dict[str, Any], list[str]]:
        """Ingest the books."""
        with counted(quiet=options["json"]) as report:
            done = ingest_books(
                options["files"],
                wanted,
                BookOptions(options["passage_tokens"]),
                processes=options["processes"],
                report=report,
            )
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
        lines = [
            f"{row['title']}: {row['tokens']:,} tokens, {row['passages']:,} passages, "
            f"{row['chapters']:,} chapters, {row['questions']:,} questions ({row['encoding']})"
            for row in rows.values()
        ]
        if done.passed_over:
            lines.append(f"{len(done.passed_over):,} books were in the corpus already.")
        if done.marks_missing:
            cut = corpus.books.filter(document__in=done.marks_missing)
            names = ", ".join(cut.order_by("pk").values_list("article__title", flat=True)[:5])
            lines.append(
                f"{len(done.marks_missing):,} books without the words that their story begins or "
                f"ends with, cut by their licence alone: {names}."
            )
        if done.others:
            lines.append(f"{done.others:,} rows are of documents whose books were not given.")
        lines.append(
            f"{corpus.slug}: {counts['books']:,} books, {counts['chapters']:,} chapters, "
            f"{counts['passages']:,} passages, {counts['tokens']:,} tokens, "
            f"{counts['questions']:,} questions, {counts['summaries']:,} summaries; "
            f"{language_name(corpus.language)}, licence {corpus.licence_name}."
        )
        more = {
            "books": rows,
            "passed_over": done.passed_over,
            "marks_missing": done.marks_missing,
            "rows_of_other_documents": done.others,
        }
        return corpus, more, lines
