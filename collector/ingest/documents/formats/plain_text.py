"""Reads plain text: paragraphs between blank lines, headings, items of lists, but no tables."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from collector.ingest.documents.blocks import (
    HEADING,
    Block,
    DocumentText,
    cleaned,
    guessed,
    guessed_title,
    said_left_out,
    size,
)
from collector.ingest.documents.catalogue import DocumentFormat, text_of
from collector.ingest.errors import DocumentError
from collector.ingest.lines import LIST_ITEM, PARAGRAPH, Link

# If most lines are longer, nobody broke them by hand: each line is a paragraph.
LONG_LINE = 150
LONGEST_HEADING = 80
_UNDERLINE = re.compile(r"\s*(={3,}|-{3,}|~{3,}|\*{3,}|_{3,})\s*")
_NUMBERED = re.compile(r"(\d+(?:\.\d+)*)\.?\s+[^\W\d_]")
_NAMED = re.compile(r"(chapter|part|section|book|appendix)\s+([\divxlc]+|[a-z])\b", re.I)
_ITEM = re.compile(r"\s*(?:[-*•‣·–]|\d{1,3}[.)]|\(?[a-z]\))\s+(?=\S)")
_BETWEEN_CELLS = re.compile(r"(?<=\S)(?:[ \t]*\|[ \t]*|\s*\t\s*|[^\S\t]{3,})(?=\S)")
_BARRED = re.compile(r"\s*\|.*\|")
# Not marks of notes: a star (also an item or bold), (1) (also an item) and § (also a paragraph).
_NOTE = re.compile(r"\s*(\[\d{1,3}\]|[¹²³⁰⁴-⁹]+|[†‡]+)\s*\S")
_REFERENCE = re.compile(r"(?<=\S)[ \t]*(\[\d{1,3}\]|[¹²³⁰⁴-⁹]+|[†‡]+)")
_SENTENCE_END = tuple('.!?…,;:。！？।؟۔"”’»)')
_MARKUP = re.compile(r"\s*(?:<!doctype html|<html[\s>])", re.I)
Lines = list[tuple[int, int]]
"""Where lines begin and end in the text."""


class PlainText(DocumentFormat):
    """Text without markup."""

    name = "txt"
    label = "Plain text"
    help = "txt"
    extensions = ("txt", "text")
    rank = 1

    def read(self, path: Path, name: str) -> DocumentText:
        """Return the document in a text file; raises DocumentError for an HTML page."""
        text = text_of(path, name)
        if _MARKUP.match(text):
            raise DocumentError(
                f"{name} is a page in HTML by what it holds: give it the ending .html."
            )
        return read_plain_text(text)


def read_plain_text(text: str, links: Sequence[Link] = ()) -> DocumentText:
    """Return the document in a text; `links` have offsets into the text.

    Blank lines separate paragraphs. If lines are long, or there are no blank lines, each line is a
    paragraph. A line alone is a heading if it is underlined, numbered, named as a chapter or in
    capitals. The first line alone is a heading if it does not end a sentence. Tables, and notes
    below the last line of dashes, are left out.
    """
    groups = list(_groups(text))
    n_without_notes = _where_notes_begin(text, groups)
    blocks: list[Block] = []
    n_tables = 0
    left_out = Counter(notes=size(*_lines(text, groups[n_without_notes:])))
    for number, lines in enumerate(groups[:n_without_notes]):
        block = _heading(text, lines, is_first=number == 0)
        if block and number + 1 < len(groups):
            blocks.append(block)
        elif _is_table(text, lines):
            n_tables += 1
            left_out["tables"] += size(*_lines(text, [lines]))
        elif not _is_rule(text, lines):
            prose = list(_prose(text, lines, links))
            blocks += prose
            marks = size(*_lines(text, [lines])) - size(*(each.text for each in prose))
            left_out["marks of items"] += marks
    blocks = guessed(blocks)
    n_notes = len(_marks(text, groups[n_without_notes:]))
    notes = [*said_left_out("table", n_tables), *said_left_out("note", n_notes)]
    return DocumentText(guessed_title(blocks), blocks, notes=notes, left_out=+left_out)


def _lines(text: str, groups: Iterable[Lines]) -> Iterator[str]:
    return (text[start:end] for lines in groups for start, end in lines)


def _where_notes_begin(text: str, groups: Sequence[Lines]) -> int:
    """Return the index of the first group of notes; the number of groups if there are none.

    The groups below the last rule are notes if each of them begins with a mark, and the text above
    refers to each of the marks.
    """
    rules = [number for number, lines in enumerate(groups) if _is_rule(text, lines)]
    if not rules:
        return len(groups)
    below = groups[rules[-1] + 1 :]
    above = _REFERENCE.findall(text, 0, groups[rules[-1]][0][0])
    are_notes = all(_NOTE.match(text, *lines[0]) for lines in below)
    if are_notes and set(_marks(text, below)) <= set(above):
        return rules[-1] + 1
    return len(groups)


def _marks(text: str, groups: Sequence[Lines]) -> list[str]:
    """Return the marks of notes at the beginnings of lines."""
    found = (_NOTE.match(text, *line) for lines in groups for line in lines)
    return [mark[1] for mark in found if mark]


def _groups(text: str) -> Iterator[Lines]:
    """Yield groups of lines, one for each paragraph, heading, rule or table."""
    lines: Lines = []
    start = 0
    for line in text.split("\n"):
        lines.append((start, start + len(line)))
        start += len(line) + 1
    full = [line for line in lines if text[line[0] : line[1]].strip()]
    broken = len(full) < len(lines) - text.endswith("\n") and not _are_long(full)
    waiting: Lines = []
    for place in lines:
        if text[slice(*place)].strip():
            waiting.append(place)
            if broken:
                continue
        if waiting:
            yield waiting
            waiting = []
    if waiting:
        yield waiting


def _are_long(lines: Lines) -> bool:
    lengths = sorted(end - start for start, end in lines)
    return bool(lengths) and lengths[len(lengths) // 2] > LONG_LINE


def _heading(text: str, lines: Lines, *, is_first: bool) -> Block | None:
    underlined = len(lines) == 2 and _UNDERLINE.fullmatch(text, *lines[1])
    if len(lines) != 1 and not underlined:
        return None
    words = cleaned(text[slice(*lines[0])])[0]
    if not words or len(words) > LONGEST_HEADING or words.endswith(_SENTENCE_END):
        return None
    if underlined:
        return Block(HEADING, words, 1 if "=" in underlined[1] else 2)
    numbered = _NUMBERED.match(words)
    if numbered:
        return Block(HEADING, words, 2 + numbered[1].count("."))
    letters = [letter for letter in words if letter.isalpha()]
    in_capitals = len(letters) > 3 and words.isupper()
    if is_first and len(letters) > 1:
        return Block(HEADING, words, 1)
    return Block(HEADING, words, 2) if in_capitals or _NAMED.match(words) else None


def _is_rule(text: str, lines: Lines) -> bool:
    return len(lines) == 1 and _UNDERLINE.fullmatch(text, *lines[0]) is not None


def _is_table(text: str, lines: Lines) -> bool:
    """Return whether most lines have cells, and these stand in columns or between bars.

    Prose can have bars, and wide blanks if it is justified, but they do not form columns.
    """
    if len(lines) < 2:
        return False
    rows = [_cells(text[start:end]) for start, end in lines]
    barred = sum(_BARRED.match(text, *line) is not None for line in lines)
    if barred * 3 >= len(lines) * 2:
        return True
    columns = Counter(place for row in rows for places in row for place in set(places))
    least = max(2, len(lines) / 2)
    in_column = [any(columns[place] >= least for place in places) for row in rows for places in row]
    with_cells = sum(map(bool, rows))
    return with_cells * 3 >= len(lines) * 2 and sum(in_column) * 2 > len(in_column)


def _cells(line: str) -> list[list[tuple[str, int]]]:
    """Return the possible columns of each cell but the first: its start, and a number's end."""
    gaps = list(_BETWEEN_CELLS.finditer(line))
    ends = [*(gap.start() for gap in gaps[1:]), len(line.rstrip())]
    cells = []
    for number, (gap, end) in enumerate(zip(gaps, ends, strict=False)):
        # After a tab the cell's number is known, but not its column.
        places = [("tab", number) if "\t" in gap[0] else ("start", gap.end())]
        if not any(map(str.isalpha, line[gap.end() : end])):
            places.append(("end", end))
        cells.append(places)
    return cells


def _prose(text: str, lines: Lines, links: Sequence[Link]) -> Iterator[Block]:
    """Yield the paragraph, or the items of a list, each with its continuation lines."""
    parts: list[tuple[str, int, int]] = []
    for start, end in lines:
        item = _ITEM.match(text, start, end)
        if item and (parts or len(lines) == 1 or _ITEM.match(text, *lines[1])):
            parts.append((LIST_ITEM, item.end(), end))
        elif parts:
            parts[-1] = (*parts[-1][:2], end)
        else:
            parts.append((PARAGRAPH, start, end))
    for kind, start, end in parts:
        words, places = cleaned(text[start:end])
        if words:
            inside = [
                (places[first - start], places[last - start], target)
                for first, last, target in links
                if start <= first < last <= end
            ]
            yield Block(kind, words, links=inside)
