"""Reads books: which one a file holds, where its story stands, its chapters and passages.

Nothing of Django is loaded, so that several processes can read side by side.
"""

import csv
import hashlib
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from pathlib import Path
from statistics import median
from string import digits, whitespace
from typing import Any, NamedTuple, TypeVar

from collector.ingest.decoding import decode
from collector.ingest.errors import BookError
from collector.ingest.segmentation import tokens
from collector.processes import Limits, PassedLimit, cpu_seconds, in_processes, run_limited

_BLANKS = " \t\n\f\v\ufeff"
# Who brings a book and under which terms: before the first of these lines, or up to the last.
_STARTS = re.compile(
    r"^[ \t]*\*{3}[ \t]*START OF (?:THE|THIS) PROJECT GUTENBERG E-?(?:BOOK|TEXT)\b[^*]*\*{3}.*$"
    r"|^\*END\*?[ \t]*THE SMALL PRINT!.*$",
    re.M | re.I,
)
_ENDS = re.compile(
    r"^[ \t]*\*{3}[ \t]*END OF (?:THE|THIS) PROJECT GUTENBERG E-?(?:BOOK|TEXT)\b"
    r"|^[ \t]*(?:\*+[ \t]*)?End of (?:(?:the|this) )?Project Gutenberg(?:'s|’s| E-?(?:book|text))\b"
    r"|^[ \t]*\*{3}[ \t]*START: FULL LICENSE",
    re.M | re.I,
)
_IS_GUTENBERG = re.compile(r"Project Gutenberg(?:'s|’s|-tm|™)? E-?(?:book|text)", re.I)
# The paragraphs after the start that tell who typed the book.
_CREDITS = re.compile(
    r"\W*(?:Note:\s*)?(?:Produced by|Transcribed (?:from|by)|E-?text (?:was )?(?:prepared|produced)"
    r"|This e-?(?:text|book) was (?:prepared|produced|transcribed)|HTML version by"
    r"|Prepared by|Scanned by|(?:\w+\s+){0,8}Project Gutenberg)",
    re.I,
)
_HEAD_CHARACTERS = 5_000
_FIELD = re.compile(r"^(Title|Author|Language):[ \t]*(.+(?:\n[ \t]{3,}\S.*)*)", re.M)
# The first line of a file from before there were fields.
_FIRST_LINE = re.compile(
    r"Project Gutenberg(?:'s|’s)?(?: E-?(?:book|text) of)? ([^\n*]+?)(?:,? by ([^\n*]+?))?[ \t*]*$",
    re.M | re.I,
)
_BOOK_NUMBER = re.compile(r"\[\s*e-?(?:book|text)\s*(?:number|no\.?)?\s*#?\s*(\d{1,9})\s*\]", re.I)
_COPYRIGHTED = re.compile(r"this is a \*?copyrighted\*? project gutenberg", re.I)


@dataclass(frozen=True)
class BookBounds:
    """A file's text in three: `text[start:end]` is the book, the licence before and after it."""

    start: int
    end: int
    is_gutenberg: bool


@dataclass(frozen=True)
class Header:
    """What a Gutenberg header says; blank or None where it says nothing."""

    title: str
    author: str
    language: str
    number: int | None
    is_copyrighted: bool


def book_bounds(text: str, name: str) -> BookBounds:
    """Return where the book begins and ends, blanks around it left out.

    A text without any licence is whole. Raises BookError for a file that was cut short: the
    licence before the book is there, the one after it is not.
    """
    is_gutenberg = bool(_IS_GUTENBERG.search(text[:_HEAD_CHARACTERS]))
    starts = list(_STARTS.finditer(text)) if is_gutenberg else []
    start = _after_credits(text, starts[0].end()) if starts else 0
    end = _ENDS.search(text, start) if is_gutenberg else None
    if starts and end is None:
        raise BookError(
            f"{name} ends before Project Gutenberg's last lines: it was cut short, fetch it again."
        )
    return BookBounds(*trimmed(text, start, end.start() if end else len(text)), is_gutenberg)


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the range without the blanks at both ends."""
    part = text[start:end]
    first = len(part) - len(part.lstrip(_BLANKS))
    return start + first, max(start + first, start + len(part.rstrip(_BLANKS)))


def _after_credits(text: str, start: int) -> int:
    """Return where the first paragraph begins that does not tell who made the file."""
    for paragraph in re.compile(r"\S(?:.|\n(?!\s*\n))*").finditer(text, start):
        if not _CREDITS.match(paragraph[0]):
            return paragraph.start()
    return len(text)


def header(text: str) -> Header:
    """Return what a Gutenberg file says before the book; `text` is what was cut off there."""
    head = text[:_HEAD_CHARACTERS]
    fields: dict[str, str] = {}
    for match in _FIELD.finditer(head):
        fields.setdefault(match[1], match[2].partition("\n")[0].strip())
    first = _FIRST_LINE.search(head)
    if first and not fields.get("Title"):
        fields = {"Title": first[1].rstrip(","), "Author": first[2] or "", **fields}
    number = _BOOK_NUMBER.search(head)
    return Header(
        fields.get("Title", ""),
        fields.get("Author", ""),
        fields.get("Language", ""),
        int(number[1]) if number else None,
        bool(_COPYRIGHTED.search(head)),
    )


# Shorter ones, in words, are lines of a table of contents, footnotes, or lists in the text.
LEAST_WORDS_OF_CHAPTER = 40
# Half of a style's chapters are longer, or it is no style of chapters.
LEAST_MEDIAN = 250
MOST_LINES, MOST_CHARACTERS, MOST_WORDS = 3, 120, 14
# Fewer headings without a number are no way to part a book.
LEAST_UNNUMBERED = 3

_BLOCK = re.compile(r"[^\s](?:.|\n(?!\s*\n))*")
_DECORATION = " \t\n_*=~.:-[]"
_UNITS = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
_UNITS += "sixteen seventeen eighteen nineteen"
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth "
_ORDINALS += "thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth"
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_BELOW_TWENTY = [
    (word, number) for words in (_UNITS, _ORDINALS) for number, word in enumerate(words.split(), 1)
]
_WORDS = dict(_BELOW_TWENTY)
for _tens, _ten in enumerate(_TENS.split(), 2):
    _WORDS |= {_ten: 10 * _tens, f"{_ten[:-1]}ieth": 10 * _tens}
    _WORDS |= {f"{_ten} {word}": 10 * _tens + n for word, n in _BELOW_TWENTY if n < 10}
_IN_WORDS = "|".join(sorted(_WORDS, key=len, reverse=True)).replace(" ", r"[-\s]\s*")
_NUMBER = rf"(?P<number>\d{{1,3}}|[IVXLC]+|{_IN_WORDS})"
_PARTS = "PART|BOOK|VOLUME"
_CHAPTERS = "CHAPTER|CHAP|ACT|SCENE|STAVE|LETTER|CANTO"
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}


class Chapter(NamedTuple):
    """`start`, `end`: code points into the book's text, from the heading to the next one."""

    heading: str
    start: int
    end: int


class _Block(NamedTuple):
    start: int
    end: int
    text: str
    # Blank lines before it.
    gap: int


class _Heading(NamedTuple):
    block: _Block
    style: str
    number: int


def find_chapters(text: str) -> list[Chapter]:
    """Return the chapters in order; none where the text shows no way that it is parted."""
    blocks: list[_Block] = []
    end = 0
    for match in _BLOCK.finditer(text):
        gap = text.count("\n", end, match.start()) - 1 if blocks else 2
        blocks.append(_Block(match.start(), match.end(), match[0], gap))
        end = match.end()
    parts = _runs(text, _numbered(blocks, _styles(_PARTS)))
    ways: tuple[Callable[[], list[_Heading]], ...] = (
        lambda: _runs(text, _numbered(blocks, _styles(_CHAPTERS))),
        lambda: _runs(text, _numbered(blocks, _bare())),
        lambda: _of_contents(text, blocks),
        lambda: _capitals(text, blocks),
    )
    found: list[_Heading] = []
    for way in ways:
        found = way()
        if found:
            break
    return _chapters(text, blocks, sorted(parts + found, key=lambda one: one.block.start))


def _is_short(block: _Block) -> bool:
    return (
        len(block.text) <= MOST_CHARACTERS
        and block.text.count("\n") < MOST_LINES
        and len(block.text.split()) <= MOST_WORDS
    )


def _styles(names: str) -> list[tuple[str, re.Pattern[str]]]:
    """Return how a heading with one of these names may be written."""
    after = re.compile(rf"[\W_]*(?P<name>{names})\b[ \t.]*(?:the\s+)?{_NUMBER}(?=[\W_]|$)", re.I)
    before = re.compile(rf"[\W_]*(?:THE\s+)?{_NUMBER}\s+(?P<name>{names})[\W_]*$", re.I)
    return [("after", after), ("before", before)]


def _bare() -> list[tuple[str, re.Pattern[str]]]:
    """Return how a heading may be written that has a number, with or without a title."""
    alone = re.compile(r"[\W_]*(?P<number>[IVXLC]+|\d{1,3})[\W_]*$")
    titled = re.compile(r"(?P<number>[IVXLC]+)(?:\.\s+|\s*[-—:]\s*|\s{2,})(?=\S)")
    return [("alone", alone), ("titled", titled)]


def _numbered(
    blocks: Sequence[_Block], styles: Sequence[tuple[str, re.Pattern[str]]]
) -> list[_Heading]:
    found = []
    for block in filter(_is_short, blocks):
        for style, pattern in styles:
            match = pattern.match(block.text)
            if match:
                name = match.groupdict().get("name") or ""
                found.append(_Heading(block, f"{style} {name.lower()}", _value(match["number"])))
                break
    return found


def _value(number: str) -> int:
    """Return the number that digits, a word or Roman figures say; 0 for other text."""
    lower = " ".join(re.split(r"[-\s]+", number.lower()))
    if lower.isdecimal():
        return int(lower)
    if lower in _WORDS:
        return _WORDS[lower]
    # Letters of other scripts match those of figures and words where case is ignored.
    if not _ROMAN.keys() >= set(lower):
        return 0
    values = [_ROMAN[letter] for letter in lower]
    return sum(-one if one < after else one for one, after in pairwise([*values, 0]))


def _runs(text: str, headings: Sequence[_Heading]) -> list[_Heading]:
    """Return the headings of each style whose numbers follow on one another from one on.

    Numbers may begin again, as in the second part of a book. One may be missing; more where the
    heading has a name and the next one goes on from it: numbers by themselves are of pages as well.
    """
    found: list[_Heading] = []
    for style in dict.fromkeys(heading.style for heading in headings):
        last, run = 0, list[_Heading]()
        own = _long(text, [heading for heading in headings if heading.style == style])
        for heading, following in zip(own, [*own, None][1:], strict=True):
            number = heading.number
            follows = number in (1, last + 1) or (run and number == last + 2)
            goes_on = following is not None and following.number == number + 1
            if follows or (run and number > last and goes_on and not style.endswith(" ")):
                run.append(heading)
                last = number
        if len(run) > 1 and _is_way(text, run):
            found += run
    return found


def _long(text: str, headings: Sequence[_Heading]) -> list[_Heading]:
    """Return the headings that text follows, not the next one."""
    lengths = _lengths(text, headings)
    return [
        one for one, words in zip(headings, lengths, strict=True) if words >= LEAST_WORDS_OF_CHAPTER
    ]


def _is_way(text: str, headings: Sequence[_Heading]) -> bool:
    """Return whether what these part the book into is as long as chapters are."""
    return median(_lengths(text, headings)) >= LEAST_MEDIAN


def _lengths(text: str, headings: Sequence[_Heading]) -> list[int]:
    """Return how many words stand between each heading and the next, or the end."""
    ends = [*(heading.block.start for heading in headings), len(text)][1:]
    return [
        len(text[heading.block.end : end].split())
        for heading, end in zip(headings, ends, strict=True)
    ]


def _of_contents(text: str, blocks: Sequence[_Block]) -> list[_Heading]:
    """Return the blocks that are lines of the table of contents again, in its order."""
    places = [
        index for index, block in enumerate(blocks) if _plain(block.text).startswith("contents")
    ]
    if not places:
        return []
    first = places[0]
    listed = blocks[first].text.partition("\n")[2]
    listed = listed or "".join(block.text for block in blocks[first + 1 : first + 2])
    titles = [_plain(line) for line in listed.splitlines() if _plain(line)]
    found, position = [], 0
    for block in filter(_is_short, blocks[first + 1 :]):
        if block.text != listed and _plain(block.text) in titles[position:]:
            position = titles.index(_plain(block.text), position) + 1
            found.append(_Heading(block, "contents", position))
    enough = len(found) >= LEAST_UNNUMBERED and _is_way(text, found)
    return found if enough else []


def _plain(line: str) -> str:
    """Return a line of the contents without its page number and the dots before it."""
    return line.strip(_DECORATION).rstrip(digits).rstrip(f".{whitespace}").casefold()


def _capitals(text: str, blocks: Sequence[_Block]) -> list[_Heading]:
    """Return the lines of capitals with two blank lines before them, the title page's left out."""
    lines = [
        _Heading(block, "capitals", 0)
        for block in blocks
        if block.gap >= 2 and _is_short(block) and _in_capitals(block.text)
    ]
    found = _long(text, lines)
    enough = len(found) >= LEAST_UNNUMBERED and _is_way(text, found)
    return found if enough else []


def _in_capitals(line: str) -> bool:
    bare = line.strip(_DECORATION)
    return bare.isupper() and bool(re.search(r"[^\W\d_]{2}", bare)) and "\n" not in bare


def _chapters(text: str, blocks: Sequence[_Block], headings: Sequence[_Heading]) -> list[Chapter]:
    """Return what the headings part the book into; a part and its first chapter are one."""
    if not headings:
        return []
    places = {block.start: index for index, block in enumerate(blocks)}
    starts = []
    for heading, after in zip(headings, [*headings[1:], None], strict=True):
        title = _one_line(heading.block.text)
        following = blocks[places[heading.block.start] + 1 :][:1]
        end = after.block.start if after else len(text)
        if following and following[0].start < end and _is_title(heading, following[0]):
            title = f"{title} {_one_line(following[0].text)}"
        words = len(text[heading.block.end : end].split())
        starts.append((title, heading.block.start, words >= LEAST_WORDS_OF_CHAPTER))
    joined: list[tuple[str, int]] = []
    before: list[tuple[str, int]] = []
    for title, start, is_long in starts:
        before.append((title, start))
        if is_long:
            joined.append((" ".join(each for each, _ in before), before[0][1]))
            before = []
    ends = [*(start for _, start in joined), len(text)][1:]
    return [Chapter(title, start, end) for (title, start), end in zip(joined, ends, strict=True)]


def _is_title(heading: _Heading, block: _Block) -> bool:
    """Return whether the block after a bare number is the chapter's title and not its text."""
    number = re.sub(
        rf"[\W_]*(?:(?:{_PARTS}|{_CHAPTERS})\W*)?{_NUMBER}[\W_]*",
        "",
        heading.block.text,
        flags=re.I,
    )
    line = block.text.strip(_DECORATION)
    if heading.style in ("contents", "capitals") or number.strip() or not _is_short(block):
        return False
    return line.isupper() or (
        "\n" not in line and line[:1].isupper() and block.text.rstrip()[-1:].isalnum()
    )


def _one_line(text: str) -> str:
    return " ".join(text.split()).strip("_* ")


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
                missing = [column for column in wanted if column not in columns]
                if missing:
                    raise BookError(f"{path.name} lacks the column {missing[0]}.")
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


Result = TypeVar("Result")

MAX_DOCUMENT, MAX_TITLE, MAX_HEADING = 64, 250, 300
# Shorter than any story: a note, a page of links, an error message that was saved as a book.
LEAST_WORDS = 100

# What a process that reads has been started with.
_read: Callable[[Any], Any]


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
        # The story between the table's marks, never more than the licence leaves.
        first, last = story_range(text, row)
        start, end = found.start, found.end
        if first is not None and found.start < first < found.end:
            start = first
        if last is not None and start < last < found.end:
            end = last
        asked = ((row.story_start, first), (row.story_end, last))
        missing = sum(place is None for mark, place in asked if mark.strip())
        found = BookBounds(*trimmed(text, start, end), found.is_gutenberg)
    if len(text[found.start : found.end].split()) < LEAST_WORDS:
        raise BookError(f"{path.name} is no book: it has fewer than {LEAST_WORDS} words.")
    sha256 = hashlib.sha256(content).hexdigest()
    document = row.id if row else path.stem[:MAX_DOCUMENT]
    return IdentifiedBook(path, document, row, sha256, encoding, told, found, missing)


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
    yield from _in_processes(processes, paths, partial(identify, tables=tables))


def read_books(
    found: Sequence[IdentifiedBook], language: str, passage_tokens: int, processes: int
) -> Iterator[BookRecord]:
    """Yield the books in order, whatever the number of processes; raises BookError."""
    read = partial(read_book, language=language, passage_tokens=passage_tokens)
    yield from _in_processes(processes, found, read, language)


def _in_processes(
    processes: int, work: Sequence[Any], read: Callable[[Any], Result], language: str = ""
) -> Iterator[Result]:
    try:
        yield from in_processes(max(1, processes), _limited, iter(work), _start, read, language)
    except BrokenProcessPool as error:
        raise BookError(
            "a process that reads books ended, perhaps for lack of memory; run the same command "
            "with fewer --processes: what was read before stays."
        ) from error


def _start(read: Callable[[Any], Any], language: str) -> None:
    global _read
    _read = read
    if language:
        # Loaded once, for all the children that are forked from this process.
        tokens("", language)


def _limited(each: Any) -> Any:
    path = each if isinstance(each, Path) else each.path
    try:
        return run_limited(_read, each, Limits(cpu_seconds(path.stat().st_size), (path,)))
    except PassedLimit as limit:
        raise BookError(
            f"{path.name} is no book that can be read: it takes {limit}. Give it as plain text."
        ) from None
