"""Cuts Project Gutenberg's licence and credits off a book, and reads what its header says of it."""

import re
from dataclasses import dataclass

from collector.ingest.errors import BookError

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
_NUMBER = re.compile(r"\[\s*e-?(?:book|text)\s*(?:number|no\.?)?\s*#?\s*(\d{1,9})\s*\]", re.I)
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
    number = _NUMBER.search(head)
    return Header(
        fields.get("Title", ""),
        fields.get("Author", ""),
        fields.get("Language", ""),
        int(number[1]) if number else None,
        bool(_COPYRIGHTED.search(head)),
    )
