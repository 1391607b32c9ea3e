"""Reads a requester's own documents into a corpus."""

from typing import Any

from collector.ingest.documents.blocks import losses_told
from collector.ingest.documents.ingestion import ingest_documents
from collector.ingest.ingestion import CorpusOptions, IngestCommand, counted
from collector.language_names import language_name
from collector.models import Corpus
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
    one = "document"

    def read(
        self, options: dict[str, Any], wanted: CorpusOptions
    ) -> tuple[Corpus, dict[str, Any], list[str]]:
        """Ingest the documents; the corpus is ready, whatever was left out."""
        with counted(quiet=options["json"]) as report:
            done = ingest_documents(
                options["files"], wanted, processes=options["processes"], report=report
            )
        corpus, counts, lines = done.corpus, done.corpus.counts, []
        for title, named in (
            ("Changed, read again", done.changed),
            ("Left out", done.left_out),
            ("To look at", done.notes),
        ):
            if named:
                lines.append(f"{title} ({len(named):,}):")
            lines += [f"  {line}" for line in named[:SHOWN]]
            if named[SHOWN:]:
                lines.append(f"  … and {len(named) - SHOWN:,} more: --json has all.")
        above = " What is left out is named above." if done.left_out else ""
        lines += [
            f"{len(done.added):,} new, {len(done.changed):,} changed, {done.unchanged:,} as "
            f"before.{above}",
            f"{corpus.slug}: {counts['documents']:,} documents, {counts['pages']:,} pages, "
            f"{counts['paragraphs']:,} paragraphs, {counts['list_items']:,} items of lists; "
            f"{language_name(corpus.language)}, licence {corpus.licence_name}.",
        ]
        if left_out := losses_told(counts.get("characters", 0), counts.get("left_out", {})):
            lines.append(f"Left out in reading: {left_out}.")
        more = {
            "added": done.added,
            "changed": done.changed,
            "unchanged": done.unchanged,
            "left_out": done.left_out,
            "notes": done.notes,
        }
        return corpus, more, lines
