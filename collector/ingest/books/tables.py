"""Reads the tables that NarrativeQA publishes: documents.csv, qaps.csv and summaries.csv."""

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from collector.ingest.errors import BookError

DOCUMENTS, SUMMARIES = "documents.csv", "summaries.csv"
# How many words a mark of ours has.
MARK_WORDS = 5
# The words of the table, and ours.
KINDS = {"gutenberg": "book", "movie": "screenplay"}
SETS = ("train", "valid", "test")
_EBOOK = re.compile(r"gutenberg\.(?:org|net)/(?:.*/)?(?:ebooks/|files/|pg)?(\d{1,9})(?=[./-]|$)")
Row = Mapping[str, str]


@dataclass(frozen=True)
class Document:
    """A row of documents.csv. The marks are a few words where the story begins and ends.

    `row` is all of it, as given.
    """

    id: str
    set: str
    kind: str
    url: str
    title: str
    story_start: str
    story_end: str
    row: Row = field(default_factory=dict)


@dataclass(frozen=True)
class Pair:
    """A row of qaps.csv: a question and its two answers, as published."""

    question: str
    answers: tuple[str, str]


@dataclass
class Tables:
    """What the tables say, by the document's id; `documents` is empty where none was given."""

    documents: dict[str, Document] = field(default_factory=dict)
    pairs: dict[str, list[Pair]] = field(default_factory=dict)
    summaries: dict[str, str] = field(default_factory=dict)
    # The rows that the summaries are from, as given.
    summary_rows: dict[str, Row] = field(default_factory=dict)

    def of_ebook(self, number: int) -> Document | None:
        """Return the document that is Project Gutenberg's book of that number."""
        if not hasattr(self, "_ebooks"):
            self._ebooks = {
                int(found[1]): document
                for document in self.documents.values()
                if (found := _EBOOK.search(document.url))
            }
        return self._ebooks.get(number)

    def check_names(self, known: Iterable[str]) -> None:
        """Raise BookError for a pair or a summary of a document that is nowhere.

        known: the documents whose books are read, or are in the corpus.
        """
        there = {*self.documents, *known}
        for what, ids in (("a pair", self.pairs), ("a summary", self.summaries)):
            for document in ids:
                if document not in there:
                    raise BookError(
                        f"{what} is of the document {document!r}, which is not there: give its "
                        "book, or the documents.csv that names it."
                    )


def is_table(path: Path) -> bool:
    """Return whether a file is one of the tables, by its name's ending."""
    return path.suffix.lower() == ".csv"


def read_tables(paths: Iterable[Path]) -> Tables:
    """Return what the tables say; raises BookError naming the file and the column or row."""
    tables = Tables()
    for path in paths:
        columns, rows = _rows(path)
        for wanted, read in _LAYOUTS:
            if wanted[1] in columns:
                _check(path, columns, wanted)
                read(tables, path.name, rows)
                break
        else:
            raise BookError(
                f"{path.name} is no table of books: its first line has neither story_url "
                "(documents.csv) nor question (qaps.csv) nor summary (summaries.csv)."
            )
    return tables


def _rows(path: Path) -> tuple[list[str], Iterator[tuple[int, Row]]]:
    """Return the columns, and the rows with the line that each ends in."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BookError(
            f"{path.name}: byte {error.start} is no UTF-8; save the table as UTF-8."
        ) from None
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)

    def rows() -> Iterator[tuple[int, Row]]:
        try:
            for row in reader:
                if None in row or None in row.values():
                    raise BookError(
                        f"{path.name}, line {reader.line_num}: it has not as many cells as the "
                        "first line."
                    )
                yield reader.line_num, row
        except csv.Error as error:
            raise BookError(f"{path.name}, line {reader.line_num}: {error}.") from None

    try:
        return list(reader.fieldnames or ()), rows()
    except csv.Error as error:
        raise BookError(f"{path.name}, line 1: {error}.") from None


def _check(path: Path, columns: list[str], wanted: Iterable[str]) -> None:
    missing = [column for column in wanted if column not in columns]
    if missing:
        raise BookError(f"{path.name} lacks the column {missing[0]}.")


def _documents(tables: Tables, name: str, rows: Iterable[tuple[int, Row]]) -> None:
    for line, row in rows:
        if row["kind"] not in KINDS or row["set"] not in SETS:
            raise BookError(
                f"{name}, line {line}: kind is {' or '.join(KINDS)}, set one of "
                f"{', '.join(SETS)}; not {row['kind']!r}, {row['set']!r}."
            )
        tables.documents[row["document_id"]] = Document(
            row["document_id"],
            row["set"],
            KINDS[row["kind"]],
            row["story_url"],
            row["wiki_title"],
            row["story_start"],
            row["story_end"],
            row,
        )


def _pairs(tables: Tables, name: str, rows: Iterable[tuple[int, Row]]) -> None:
    for line, row in rows:
        pair = Pair(row["question"], (row["answer1"], row["answer2"]))
        if not all(map(str.strip, (pair.question, *pair.answers))):
            raise BookError(f"{name}, line {line}: the question or an answer is empty.")
        tables.pairs.setdefault(row["document_id"], []).append(pair)


def _summaries(tables: Tables, name: str, rows: Iterable[tuple[int, Row]]) -> None:
    for line, row in rows:
        if not row["summary"].strip():
            raise BookError(f"{name}, line {line}: the summary is empty.")
        tables.summaries[row["document_id"]] = row["summary"].strip()
        tables.summary_rows[row["document_id"]] = row


# The columns that each needs, the one it is known by second.
_LAYOUTS: tuple[
    tuple[tuple[str, ...], Callable[[Tables, str, Iterable[tuple[int, Row]]], None]], ...
] = (
    (
        *(("document_id", "story_url", "set", "kind", "wiki_title", "story_start", "story_end"),),
        _documents,
    ),
    (("document_id", "question", "answer1", "answer2"), _pairs),
    (("document_id", "summary"), _summaries),
)


def counted(text: str, size_bytes: int) -> dict[str, str]:
    """Return what documents.csv tells of a story by counting, and a few words at both its ends."""
    words = text.split()
    return {
        "story_file_size": str(size_bytes),
        "story_word_count": str(len(words)),
        "story_start": " ".join(words[:MARK_WORDS]),
        "story_end": " ".join(words[-MARK_WORDS:]),
    }


def story_range(text: str, document: Document) -> tuple[int | None, int | None]:
    """Return where the words stand that the story begins and ends with; None for words not found.

    The first place of the one and the last of the other: some are words of the licence. The table
    has them as tokens, so blanks between them count for nothing.
    """
    start = next(_places(text, document.story_start), None)
    *_, end = (None, *_places(text, document.story_end))
    return start.start() if start else None, end.end() if end else None


def _places(text: str, mark: str) -> Iterator[re.Match[str]]:
    words = [re.escape(word) for word in mark.replace("...", " ").split()]
    return re.compile(r"\s*".join(words)).finditer(text) if words else iter(())
