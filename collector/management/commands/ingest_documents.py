"""Reads a requester's own documents into a corpus."""

from typing import Any

import orjson

from collector.ingest.documents.blocks import losses_told
from collector.ingest.documents.ingestion import IngestReport, Report, ingest_documents
from collector.ingest.ingestion import IngestCommand, corpus_options, counted, told_in_one_line
from collector.language_names import language_name
from common.command_line import MANAGE

SHOWN = 20


class Command(IngestCommand):
    """Prints what is new, changed and left out, or one JSON object with `--json`."""

    help = (
        "Read your own documents into a corpus: txt, Markdown, HTML, PDF with a text layer, docx; "
        "JSON Lines and CSV with the columns id, title, text and, where you have them, url, "
        "licence, links (a list of [start, end, id]); folders and zip archives of them. What "
        "cannot be read is named and left out. Run it again to add what is new and to read again "
        "what has changed.\n\n"
        f"Example: {MANAGE} ingest_documents handbook/ notes.zip faq.jsonl --corpus handbook"
    )

    files_are = "file, folder or zip archive"
    texts = "documents"

    def handle(self, *args: Any, **options: Any) -> None:
        """Ingest the documents; exit code 0 when the corpus is ready, whatever was left out."""
        with told_in_one_line("document"):
            done = self._ingest(options) if options["json"] else self._with_progress(options)
        self._print(done, as_json=options["json"])

    def _ingest(self, options: dict[str, Any], report: Report = lambda *told: None) -> IngestReport:
        return ingest_documents(
            options["files"],
            corpus_options(options),
            processes=options["processes"],
            report=report,
        )

    def _with_progress(self, options: dict[str, Any]) -> IngestReport:
        with counted() as report:
            return self._ingest(options, report)

    def _print(self, done: IngestReport, *, as_json: bool) -> None:
        corpus, counts = done.corpus, done.corpus.counts
        if as_json:
            found = {
                "corpus": corpus.slug,
                "state": corpus.state,
                "language": corpus.language,
                "direction": corpus.direction,
                "licence": corpus.licence_name,
                "counts": counts,
                "added": done.added,
                "changed": done.changed,
                "unchanged": done.unchanged,
                "left_out": done.left_out,
                "notes": done.notes,
            }
            self.stdout.write(orjson.dumps(found).decode())
            return
        for title, lines in (
            ("Changed, read again", done.changed),
            ("Left out", done.left_out),
            ("To look at", done.notes),
        ):
            if lines:
                self.stdout.write(f"{title} ({len(lines):,}):")
            for line in lines[:SHOWN]:
                self.stdout.write(f"  {line}")
            if lines[SHOWN:]:
                self.stdout.write(f"  … and {len(lines) - SHOWN:,} more: --json has all.")
        named = " What is left out is named above." if done.left_out else ""
        self.stdout.write(
            f"{len(done.added):,} new, {len(done.changed):,} changed, {done.unchanged:,} as "
            f"before.{named}"
        )
        self.stdout.write(
            f"{corpus.slug}: {counts['documents']:,} documents, {counts['pages']:,} pages, "
            f"{counts['paragraphs']:,} paragraphs, {counts['list_items']:,} items of lists; "
            f"{language_name(corpus.language)}, licence {corpus.licence_name}."
        )
        if left_out := losses_told(counts.get("characters", 0), counts.get("left_out", {})):
            self.stdout.write(f"Left out in reading: {left_out}.")
        if corpus.licence_name == "unknown":
            self.stdout.write("Name the licence of the documents: run this again with --licence.")
