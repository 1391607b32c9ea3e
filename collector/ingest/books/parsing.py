"""Reads books: which one a file holds, where its story stands, its chapters and passages.

Nothing of Django is loaded, so that several processes can read side by side.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from collector.ingest.books.chapters import Chapter, find_chapters
from collector.ingest.books.gutenberg import BookBounds, Header, book_bounds, header, trimmed
from collector.ingest.books.tables import Document, Tables, story_range
from collector.ingest.decoding import decode
from collector.ingest.errors import BookError
from collector.ingest.segmentation import tokens
from collector.limited_process import Limits, PassedLimit, cpu_seconds, run_limited
from collector.parallel import in_processes

Result = TypeVar("Result")

MAX_DOCUMENT, MAX_TITLE, MAX_HEADING = 64, 250, 300
# Shorter than any story: a note, a page of links, an error message that was saved as a book.
LEAST_WORDS = 100

# What a process that reads has been started with.
_given: tuple[Any, ...]


@dataclass(frozen=True)
class IdentifiedBook:
    """Which book a file holds, before its text is cut into tokens.

    `marks_missing`: how many of the marks that the table gives, two at most, are not in the text.
    """

    path: Path
    document: str
    row: Document | None
    sha256: str
    encoding: str
    header: Header
    bounds: BookBounds
    marks_missing: int

    @property
    def title(self) -> str:
        """Return the book's title: the table's, the header's, or the file's name."""
        told = self.row.title if self.row else self.header.title
        return (told or self.path.stem.replace("_", " "))[:MAX_TITLE]


@dataclass(frozen=True)
class BookRecord:
    """A book as it is stored. passages: (start, end, number of tokens) in order."""

    found: IdentifiedBook
    front: str
    text: str
    back: str
    n_tokens: int
    passages: list[tuple[int, int, int]]
    chapters: list[Chapter] = field(default_factory=list)


def identify(path: Path, tables: Tables) -> IdentifiedBook:
    """Return which book a file holds and where its story stands.

    With a table of documents the book is the row of the file's name, or of its number in Project
    Gutenberg; without one it is named after the file. Raises BookError for what is no book or no
    row's.
    """
    content = path.read_bytes()
    text, encoding = decode(content, path.name)
    found = book_bounds(text, path.name)
    told = header(text[: found.start]) if found.is_gutenberg else Header("", "", "", None, False)
    row = tables.documents.get(path.stem)
    if row is None and told.number is not None:
        row = tables.of_ebook(told.number)
    if row is None and tables.documents:
        raise BookError(
            f"{path.name}: no row of documents.csv is its; name the file after its document_id."
        )
    missing = 0
    if row is not None:
        found, missing = _within_marks(text, found, row)
    if len(text[found.start : found.end].split()) < LEAST_WORDS:
        raise BookError(f"{path.name} is no book: it has fewer than {LEAST_WORDS} words.")
    sha256 = hashlib.sha256(content).hexdigest()
    document = row.id if row else path.stem[:MAX_DOCUMENT]
    return IdentifiedBook(path, document, row, sha256, encoding, told, found, missing)


def _within_marks(text: str, found: BookBounds, row: Document) -> tuple[BookBounds, int]:
    """Return the story between the table's marks, never more than the licence leaves."""
    first, last = story_range(text, row)
    start, end = found.start, found.end
    if first is not None and found.start < first < found.end:
        start = first
    if last is not None and start < last < found.end:
        end = last
    asked = ((row.story_start, first), (row.story_end, last))
    missing = sum(place is None for mark, place in asked if mark.strip())
    return BookBounds(*trimmed(text, start, end), found.is_gutenberg), missing


def read_book(found: IdentifiedBook, language: str, passage_tokens: int) -> BookRecord:
    """Return the book with its chapters and its passages of `passage_tokens` tokens each."""
    whole = decode(found.path.read_bytes(), found.path.name).text
    text = whole[found.bounds.start : found.bounds.end]
    places = tokens(text, language)
    chapters = [one._replace(heading=one.heading[:MAX_HEADING]) for one in find_chapters(text)]
    return BookRecord(
        found,
        whole[: found.bounds.start],
        text,
        whole[found.bounds.end :],
        len(places),
        passages(places, passage_tokens),
        chapters,
    )


def passages(places: Sequence[tuple[int, int]], size: int) -> list[tuple[int, int, int]]:
    """Return (start, end, number of tokens) of each run of `size` tokens, the last one shorter."""
    cuts = [places[first : first + size] for first in range(0, len(places), size)]
    return [(run[0][0], run[-1][1], len(run)) for run in cuts]


def identify_books(
    paths: Sequence[Path], tables: Tables, processes: int
) -> Iterator[IdentifiedBook]:
    """Yield which books the files hold, in order; raises BookError, as for what passes limits."""
    yield from _in_processes(processes, _identify_limited, paths, tables)


def read_books(
    found: Sequence[IdentifiedBook], language: str, passage_tokens: int, processes: int
) -> Iterator[BookRecord]:
    """Yield the books in order, whatever the number of processes; raises BookError."""
    yield from _in_processes(processes, _read_limited, found, language, passage_tokens)


def _in_processes(
    processes: int,
    read: Callable[..., Result],
    work: Sequence[Any],
    *given: Any,
) -> Iterator[Result]:
    try:
        yield from in_processes(max(1, processes), read, iter(work), _start, *given)
    except BrokenProcessPool as error:
        raise BookError(
            "a process that reads books ended, perhaps for lack of memory; run the same command "
            "with fewer --processes: what was read before stays."
        ) from error


def _start(*given: Any) -> None:
    global _given
    _given = given


def _identify_limited(path: Path) -> IdentifiedBook:
    return _limited(_identify, path, path)


def _identify(path: Path) -> IdentifiedBook:
    return identify(path, *_given)


def _read_limited(found: IdentifiedBook) -> BookRecord:
    # Loaded once, for all the children that are forked from this process.
    tokens("", _given[0])
    return _limited(_read, found, found.path)


def _read(found: IdentifiedBook) -> BookRecord:
    return read_book(found, *_given)


def _limited(function: Callable[[Any], Result], argument: Any, path: Path) -> Result:
    try:
        return run_limited(function, argument, Limits(cpu_seconds(path.stat().st_size), (path,)))
    except PassedLimit as limit:
        raise BookError(
            f"{path.name} is no book that can be read: it takes {limit}. Give it as plain text."
        ) from None
