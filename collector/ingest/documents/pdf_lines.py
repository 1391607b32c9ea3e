"""Reads the lines of a PDF's pages with pdfium, and finds tables and odd readings with pdfminer."""

import ctypes
import itertools
import logging
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from collector.ingest.documents.blocks import clean

# Letters as fonts join them, which are written apart.
_JOINED = re.compile("[\ufb00-\ufb06\ufb13-\ufb17\ufb1d-\ufdcf\ufdf0-\ufdfb\ufe70-\ufefc]+")
# How pdfium writes a hyphen that parts a word.
PARTED = "\x02\ufffe"
HYPHEN = re.compile("(?<=[^\\W\\d_])[\u00ad\u2010-]\\s*$")
_MARKS = frozenset("0123456789*†‡§,[]()¹²³⁴⁵⁶⁷⁸⁹")
_MIRRORED = dict(zip("()[]{}«»<>", ")(][}{»«><", strict=True))
_BOLD = re.compile("bold|black|heavy", re.I)
_WORD = re.compile(r"[^\W_]+")
# What tagged files call what is no running text.
_IS_APART = re.compile("^(Table|Note|FENote|TOC)$")
# Latin letters and digits with what stands between them: they run to the right in any line.
_RIGHTWARD = "0-9A-Za-z\u00c0-\u024f\u0660-\u0669\u06f0-\u06f9"
_RUN = re.compile(rf"[{_RIGHTWARD}](?:[{_RIGHTWARD}.,:/%+ -]*[{_RIGHTWARD}])?")
# Brackets that pdfium joins to the word before or after them.
_OPENING, _CLOSING = re.compile(r"([(\[{«]) "), re.compile(r" ([)\]}»]+[.,:;!?؟،؛]?)(?=\w)")
# Shares of a line's height: how small and how raised a note's mark is, how far letters
# of one row lie apart.
SMALL, RAISED, SAME_ROW = 0.8, 0.12, 0.35
# Of words, how many two libraries may read differently on a page.
MOST_ODD_WORDS = 0.02


class _Letter(NamedTuple):
    """A letter in points; `bottom` is the line it stands on, `top` its size above that."""

    text: str
    left: float
    right: float
    bottom: float
    top: float
    is_bold: bool


@dataclass(frozen=True)
class Line:
    """A line as it stands on its page, in points from the page's left and bottom edges.

    `text` is clean, the raised marks of notes left out; `size` is that of most letters, `gap` the
    widest blank inside; `is_hyphened`: its last word goes on in the next line.
    """

    text: str
    page: int
    left: float
    right: float
    bottom: float
    top: float
    size: float
    gap: float
    is_bold: bool
    is_hyphened: bool
    is_right_to_left: bool
    begins_with_mark: bool


@dataclass(frozen=True)
class Page:
    """A page's lines in the order of reading, tables left out.

    `agrees`: two libraries have read the same words.
    """

    number: int
    height: float
    lines: list[Line]
    agrees: bool


def read_pages(path: Path) -> Iterator[Page]:
    """Yield the pages of a PDF; raises what pdfium or pdfminer raises for a damaged one."""
    import pdfplumber
    import pypdfium2

    # It warns of oddities in fonts, which are nobody's concern here.
    logging.getLogger("pdfminer").setLevel(logging.ERROR)
    with pypdfium2.PdfDocument(path) as document, pdfplumber.open(path) as second:
        for number, (page, other) in enumerate(zip(document, second.pages, strict=False), start=1):
            height = page.get_height()
            tables = _tables(other, height)
            rows = (_without_marks(row) for row in _rows(page.get_textpage()))
            lines = [line for row, is_note in rows if (line := _line(row, number, is_note))]
            kept = [line for line in lines if not any(_is_in(line, table) for table in tables)]
            yield Page(number, height, join_rows(kept), _agree(lines, other))
            other.close()


def count_pages(path: Path) -> int:
    """Return how many pages a PDF has; raises pypdfium2.PdfiumError for one that is damaged."""
    import pypdfium2

    with pypdfium2.PdfDocument(path) as document:
        return len(document)


def _rows(page: Any) -> Iterator[list[_Letter]]:
    """Yield the letters of each line, as pdfium orders them."""
    row = list[_Letter]()
    for letter in _letters(page):
        if letter.text in PARTED and row:
            # It stands for the hyphen at the end of a line, and for the end itself.
            yield [*row, row[-1]._replace(text="\u2010")]
            row = []
        elif letter.text in "\r\n":
            if row:
                yield row
            row = []
        else:
            row.append(letter)
    if row:
        yield row


def _letters(page: Any) -> Iterator[_Letter]:
    import pypdfium2.raw as pdfium

    box, matrix, x, y = (
        *(pdfium.FS_RECTF(), pdfium.FS_MATRIX()),
        *(ctypes.c_double(), ctypes.c_double()),
    )
    begins = True
    for index in range(page.count_chars()):
        code = pdfium.FPDFText_GetUnicode(page, index)
        text = chr(code) if code < 0x110000 else "\ufffd"
        pdfium.FPDFText_GetLooseCharBox(page, index, box)
        pdfium.FPDFText_GetMatrix(page, index, matrix)
        pdfium.FPDFText_GetCharOrigin(page, index, x, y)
        size = pdfium.FPDFText_GetFontSize(page, index) * math.hypot(matrix.c, matrix.d)
        is_bold = begins and _is_bold(page, index)
        yield _Letter(text, box.left, box.right, y.value, y.value + size, is_bold)
        begins = text in "\r\n" or text in PARTED


def _is_bold(page: Any, index: int) -> bool:
    import pypdfium2.raw as pdfium

    name, flags = ctypes.create_string_buffer(100), ctypes.c_int()
    pdfium.FPDFText_GetFontInfo(page, index, name, len(name), ctypes.byref(flags))
    return bool(_BOLD.search(name.value.decode("utf-8", "replace")))


def _without_marks(row: list[_Letter]) -> tuple[list[_Letter], bool]:
    """Return the row without the small raised marks of notes, and whether it began with one."""
    sizes = Counter(round(letter.top - letter.bottom, 1) for letter in row)
    size = sizes.most_common(1)[0][0]
    foot = min((one.bottom for one in row if round(one.top - one.bottom, 1) == size), default=0.0)
    kept = [
        letter
        for letter in row
        if letter.text not in _MARKS
        or letter.top - letter.bottom > SMALL * size
        or letter.bottom < foot + RAISED * size
    ]
    return kept, kept[:1] != row[:1]


def _line(row: list[_Letter], page: int, is_note: bool) -> Line | None:
    letters = [letter for letter in row if not letter.text.isspace()]
    if not letters:
        return None
    text = "".join(letter.text for letter in row)
    is_rtl = _is_right_to_left(text)
    if is_rtl:
        text = _in_order_of_reading(row)
    text = _JOINED.sub(lambda found: unicodedata.normalize("NFKC", found[0]), text)
    hyphen = HYPHEN.search(text)
    if hyphen:
        text = text[: hyphen.start()] + "-"
    words = clean(text)
    if not words:
        return None
    sizes = Counter(round(letter.top - letter.bottom, 1) for letter in letters)
    places = sorted((letter.left, letter.right) for letter in letters)
    gaps = [after[0] - before[1] for before, after in itertools.pairwise(places)]
    return Line(
        words,
        page,
        left=places[0][0],
        right=max(right for _, right in places),
        bottom=min(letter.bottom for letter in letters),
        top=max(letter.top for letter in letters),
        size=sizes.most_common(1)[0][0],
        gap=max(gaps, default=0.0),
        is_bold=row[0].is_bold,
        is_hyphened=hyphen is not None,
        is_right_to_left=is_rtl,
        begins_with_mark=is_note,
    )


def _is_right_to_left(text: str) -> bool:
    sides = Counter(unicodedata.bidirectional(letter) for letter in text)
    return sides["R"] + sides["AL"] > sides["L"]


def _in_order_of_reading(row: list[_Letter]) -> str:
    """Return a line of a script that runs to the left.

    pdfium has its words in order, but the letters of many as they were drawn. Numbers and words of
    other scripts inside it run to the right, brackets are drawn mirrored.
    """
    words = []
    for is_blank, letters in itertools.groupby(row, key=lambda letter: letter.text.isspace()):
        if not is_blank:
            placed = sorted(letters, key=lambda letter: -(letter.left + letter.right))
            drawn = "".join(_MIRRORED.get(letter.text, letter.text) for letter in placed)
            words.append(_RUN.sub(lambda found: found[0][::-1], drawn))
    text = " ".join(words)
    return _CLOSING.sub(r"\1 ", _OPENING.sub(r" \1", text))


def join_rows(lines: list[Line]) -> list[Line]:
    """Return the lines, those joined that stand side by side and were written one after another."""
    joined: list[Line] = []
    for line in lines:
        last = joined[-1] if joined else None
        if last and _is_mark_of(last, line):
            continue
        beside = last and abs(line.bottom - last.bottom) < SAME_ROW * line.size
        if last and beside and last.right <= line.left + SAME_ROW * line.size:
            joined[-1] = replace(
                line,
                text=f"{last.text} {line.text}",
                left=last.left,
                bottom=min(last.bottom, line.bottom),
                top=max(last.top, line.top),
                size=max(last.size, line.size),
                gap=max(last.gap, line.gap, line.left - last.right),
                is_bold=last.is_bold and line.is_bold,
            )
        else:
            joined.append(line)
    return joined


def _is_mark_of(last: Line, line: Line) -> bool:
    """Return whether a line is the raised mark of a note at the end of the one before it."""
    is_small = line.size <= SMALL * last.size and _MARKS.issuperset(line.text)
    return is_small and last.bottom < line.bottom < last.top and line.left > last.right - line.size


def _tables(page: Any, height: float) -> list[tuple[float, float, float, float]]:
    """Return (left, bottom, right, top) of what the file calls a table or a note, or rules as one.

    Ruled are two rows and two columns.
    """
    from pdfplumber.structure import PDFStructTree, StructTreeMissing

    found = []
    for table in page.find_tables():
        if len(table.rows) > 1 and any(sum(map(bool, row.cells)) > 1 for row in table.rows):
            found.append(table.bbox)
    try:
        tree = PDFStructTree(page.pdf, page)
        found += [tree.element_bbox(each) for each in tree.find_all(_IS_APART)]
    except (StructTreeMissing, IndexError, KeyError, TypeError, ValueError):
        # Untagged, or wrongly: what stands there is seen from its place alone.
        pass
    return [(left, height - bottom, right, height - top) for left, top, right, bottom in found]


def _is_in(line: Line, table: tuple[float, float, float, float]) -> bool:
    x, y = (line.left + line.right) / 2, (line.bottom + line.top) / 2
    return table[0] <= x <= table[2] and table[1] <= y <= table[3]


def _agree(lines: list[Line], other: Any) -> bool:
    """Return whether pdfminer has read the words that we have; of scripts drawn to the left, their
    letters, as it leaves these as they were drawn.
    """
    ours = Counter(word for line in lines for word in _words(line.text))
    theirs = Counter(word for each in other.extract_words() for word in _words(each["text"]))
    odd = (ours - theirs).total()
    return odd <= max(ours.total() * MOST_ODD_WORDS, 1)


def _words(text: str) -> list[str]:
    plain = unicodedata.normalize("NFKC", text)
    return ["".join(sorted(word)) for word in _WORD.findall(plain)]
