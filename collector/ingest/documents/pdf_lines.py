"""Reads the lines of a PDF's pages with pdfium, and finds tables and odd readings with pdfminer."""

import ctypes
import itertools
import logging
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from collector.ingest.documents.blocks import clean, size
from collector.ingest.raised import lowered, raised

_SIGNED = re.compile(r"[+\-−–]\d+|\d*[+\-−–]")
# Before it no letter, digit or sign of money: 10, but not 1910 or £10.
_NUMBER_BEFORE = re.compile(r"(?<![\w.,$£€¥])\d+(?:[.,]\d+)*$")
_YEAR = re.compile(r"1\d{3}|20\d\d")
_THOUSANDS = re.compile(r",\d{3}")
# 10⁻²⁷ and 2¹⁰; other numbers have one digit raised, or the mark of a note.
_BASES = frozenset({"10", "2"})
_METRE = re.compile(r"(?<![^\W\d_])[kcdhmnµμ]?m$")
_UNIT = re.compile(r"(?:\d\s?|[/·⋅*]\s?|\bper )(?:ft|in|yd|mi|s|sec|h|g|kg|V|A|K|Hz|px|dm)$")
_VARIABLE = re.compile(r"(?<![\w’'])[^\W\d_]$")
_AFTER_EQUALS = re.compile(r"=\s*\w{1,3}$")
_BRACKETED = re.compile(r"\(([^()]*)\)$")
_ARITHMETIC = re.compile(r"[+−×*/^=±-]|\d[.,]\d|^[^\W\d_]$")
_WORD_IN_BRACKETS = re.compile(r"[^\W\d_]{3}")
_ELEMENT = re.compile(r"[A-Z][a-z]?(?![^\W\d_])")


def is_exponent(before: str, raised: str, after: str = "") -> bool:
    """Return whether `raised`, which stands higher than the text around it, is read with that text.

    A page says only that digits are raised. After a word, a year, an amount or a full stop, and
    where a line begins, they are the mark of a note.
    """
    if not before.strip():
        return False
    if before[-1].isspace():
        # 14 before C: an isotope.
        return raised.isdigit() and _ELEMENT.match(after) is not None
    if _SIGNED.fullmatch(raised):
        return before[-1].isalnum() or before[-1] in ")]"
    if not raised.isdigit():
        return False
    if number := _NUMBER_BEFORE.search(before):
        written = number[0]
        is_amount = _YEAR.fullmatch(written) or _THOUSANDS.search(written)
        return written in _BASES or (len(raised) == 1 and not is_amount)
    if bracketed := _BRACKETED.search(before):
        inside = bracketed[1]
        return bool(_ARITHMETIC.search(inside)) and not _WORD_IN_BRACKETS.search(inside)
    return any(found.search(before) for found in (_METRE, _UNIT, _VARIABLE, _AFTER_EQUALS))


# Letters as fonts join them, which are written apart.
_JOINED = re.compile("[\ufb00-\ufb06\ufb13-\ufb17\ufb1d-\ufdcf\ufdf0-\ufdfb\ufe70-\ufefc]+")
# How pdfium writes a hyphen that parts a word.
PARTED = "\x02\ufffe"
HYPHEN = re.compile("(?<=[^\\W\\d_])[\u00ad\u2010-]\\s*$")
_MARKS = frozenset("0123456789*†‡§,[]()¹²³⁴⁵⁶⁷⁸⁹")
_CLOSING = frozenset(",.;:!?)")
_SIGNS = frozenset("+-−–")
_SUPERSCRIPTS = "⁰¹²³⁴-⁹⁺⁻"
_MIRRORED = dict(zip("()[]{}«»<>", ")(][}{»«><", strict=True))
_BOLD = re.compile("bold|black|heavy", re.I)
_WORD = re.compile(r"[^\W_]+")
_RAISED_DIGITS = re.compile(f"[{_SUPERSCRIPTS}]+")
# What tagged files call what is no running text.
_IS_APART = re.compile("^(Table|Note|FENote|TOC)$")
# What runs to the right in a line of letters that run to the left, here as it stands from its
# right end: Latin words with what is between them, numbers; beside Hebrew also their signs.
_LATIN, _DIGIT, _BRACKETS = (
    "A-Za-z\u00c0-\u024f",
    "0-9\u0660-\u0669\u06f0-\u06f9" + _SUPERSCRIPTS,
    r"()\[\]{}",
)
_BETWEEN = rf"{_LATIN}{_DIGIT}{_BRACKETS}\s.,:;/%+&@_'’–-"
_WORDS = re.compile(rf"[{_BRACKETS}]?(?:[{_LATIN}{_DIGIT}][{_BETWEEN}]*)?[{_LATIN}]")
_NUMBER = re.compile(rf"[{_DIGIT}]+(?:[.,:/][{_DIGIT}]+)*")
_SIGNED_NUMBER = re.compile(rf"%?[{_DIGIT}]+(?:[.,:/+-][{_DIGIT}]+)*")
_HEBREW = re.compile("[\u05d0-\u05ea]")
_TURNS = re.compile(f"[{re.escape(''.join(_MIRRORED))}]")
_ANY_BRACKET = re.compile(rf"[{_BRACKETS}]")
# Shares of a line's height: how small and how raised a note's mark is, how far down a small digit
# is lowered, how far letters of one row lie apart; how narrow a gap is a blank between words;
# where words run to the left, how wide it may be inside of one, and what is one beside a bracket,
# which pdfium gives to either side.
SMALL, RAISED, LOWERED, SAME_ROW = 0.8, 0.12, 0.05, 0.35
NARROWEST_BLANK, WIDEST_INSIDE, BESIDE_BRACKET = 0.05, 0.3, 0.2
# Of words, how many two libraries may read differently on a page.
MOST_ODD_WORDS = 0.02
# Letters after raised digits that say whether these are an isotope's.
MOST_AFTER = 4


class Letter(NamedTuple):
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


Box = tuple[float, float, float, float]
"""Left, bottom, right, top."""


@dataclass(frozen=True)
class Page:
    """A page's lines in the order of reading, tables left out.

    `agrees`: two libraries have read the same words. `n_tables`: how many were left out.
    `in_tables`, `in_notes`: how many characters, of ruled tables and of what is tagged as a note.
    """

    number: int
    height: float
    lines: list[Line]
    agrees: bool
    n_tables: int = 0
    in_tables: int = 0
    in_notes: int = 0


def read_pages(path: Path) -> Iterator[Page]:
    """Yield the pages of a PDF; raises what pdfium or pdfminer raises for a damaged one."""
    import pdfplumber
    import pypdfium2

    # It warns of oddities in fonts, which are nobody's concern here.
    logging.getLogger("pdfminer").setLevel(logging.ERROR)
    with pypdfium2.PdfDocument(path) as document, pdfplumber.open(path) as second:
        for number, (page, other) in enumerate(zip(document, second.pages, strict=False), start=1):
            height = page.get_height()
            tables, others = _tables(other, height)
            rows = map(_without_marks, with_pieces(_rows(page.get_textpage())))
            lines = [line for row, is_note in rows if (line := _line(row, number, is_note))]
            outside = [line for line in lines if not any(_is_in(line, each) for each in tables)]
            kept = [line for line in outside if not any(_is_in(line, each) for each in others)]
            n_tables = sum(any(_is_in(line, table) for line in lines) for table in tables)
            sizes = [size(*(line.text for line in each)) for each in (lines, outside, kept)]
            apart = (sizes[0] - sizes[1], sizes[1] - sizes[2])
            yield Page(number, height, join_rows(kept), _agree(lines, other), n_tables, *apart)
            other.close()


def count_pages(path: Path) -> int:
    """Return how many pages a PDF has; raises pypdfium2.PdfiumError for one that is damaged."""
    import pypdfium2

    with pypdfium2.PdfDocument(path) as document:
        return len(document)


def _rows(page: Any) -> Iterator[list[Letter]]:
    """Yield the letters of each line, as pdfium orders them."""
    row = list[Letter]()
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


def with_pieces(rows: Iterable[list[Letter]]) -> Iterator[list[Letter]]:
    """Yield the rows, those whole that run to the left and that pdfium has cut in pieces."""
    whole: list[Letter] = []
    for row in rows:
        if whole and not _is_piece(whole, row):
            yield whole
            whole = []
        whole += [whole[-1]._replace(text=" "), *row] if whole else row
    if whole:
        yield whole


def _is_piece(whole: list[Letter], row: list[Letter]) -> bool:
    first, last = row[0], whole[-1]
    size = last.top - last.bottom
    if abs(first.bottom - last.bottom) > SAME_ROW * size or not _is_right_to_left(
        "".join(letter.text for letter in [*whole, *row])
    ):
        return False
    left, right = min(one.left for one in whole), max(one.right for one in whole)
    return any(left - size < one.right and one.left < right + size for one in row)


def _letters(page: Any) -> Iterator[Letter]:
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
        yield Letter(text, box.left, box.right, y.value, y.value + size, is_bold)
        begins = text in "\r\n" or text in PARTED


def _is_bold(page: Any, index: int) -> bool:
    import pypdfium2.raw as pdfium

    name, flags = ctypes.create_string_buffer(100), ctypes.c_int()
    pdfium.FPDFText_GetFontInfo(page, index, name, len(name), ctypes.byref(flags))
    return bool(_BOLD.search(name.value.decode("utf-8", "replace")))


def _without_marks(row: list[Letter]) -> tuple[list[Letter], bool]:
    """Return the row without the small raised marks of notes, and whether it began with one.

    What else is raised or lowered is written so: 10⁶, H₂O.
    """
    sizes = Counter(round(letter.top - letter.bottom, 1) for letter in row)
    size = sizes.most_common(1)[0][0]
    foot = min((one.bottom for one in row if round(one.top - one.bottom, 1) == size), default=0.0)

    def writer(letter: Letter) -> Callable[[str], str] | None:
        if letter.top - letter.bottom > SMALL * size:
            return None
        if letter.bottom >= foot + RAISED * size and letter.text in _MARKS | _SIGNS:
            return raised
        is_lowered = letter.bottom < foot - LOWERED * size and letter.text.isdigit()
        return lowered if is_lowered else None

    kept: list[Letter] = []
    at = 0
    for write, run in itertools.groupby(row, writer):
        letters = list(run)
        at += len(letters)
        before, after = _text(kept), _text(row[at : at + MOST_AFTER])
        if write is raised and not is_exponent(before, _text(letters), after):
            # A sign that is raised alone is no mark.
            letters = [letter for letter in letters if letter.text not in _MARKS]
        elif write is not None and before.strip():
            letters = [letter._replace(text=write(letter.text)) for letter in letters]
        kept += letters
    return kept, kept[:1] != row[:1]


def _text(row: list[Letter]) -> str:
    return "".join(letter.text for letter in row)


def _line(row: list[Letter], page: int, is_note: bool) -> Line | None:
    letters = [letter for letter in row if not letter.text.isspace()]
    if not letters:
        return None
    text = "".join(letter.text for letter in row)
    is_rtl = _is_right_to_left(text)
    if is_rtl:
        text = in_order_of_reading(row)
    text = _JOINED.sub(lambda found: unicodedata.normalize("NFKC", found[0]), text)
    hyphen = HYPHEN.search(text)
    if hyphen:
        text = text[: hyphen.start()] + "-"
    words = clean(text)
    if not words:
        return None
    sizes = Counter(round(letter.top - letter.bottom, 1) for letter in letters)
    size = sizes.most_common(1)[0][0]
    places = sorted((letter.left, letter.right) for letter in letters)
    gaps = [after[0] - before[1] for before, after in itertools.pairwise(places)]
    return Line(
        words,
        page,
        left=places[0][0],
        right=max(right for _, right in places),
        # Small letters may be lowered.
        bottom=min(one.bottom for one in letters if one.top - one.bottom > SMALL * size),
        top=max(letter.top for letter in letters),
        size=size,
        gap=max(gaps, default=0.0),
        is_bold=row[0].is_bold,
        is_hyphened=hyphen is not None,
        is_right_to_left=is_rtl,
        begins_with_mark=is_note,
    )


def _is_right_to_left(text: str) -> bool:
    sides = Counter(unicodedata.bidirectional(letter) for letter in text)
    return sides["R"] + sides["AL"] > sides["L"]


def in_order_of_reading(row: list[Letter]) -> str:
    """Return a line of a script that runs to the left, from where its letters stand.

    pdfium turns some of its words round and not others, mirrors some brackets, and puts the blanks
    it makes up where they are not. Numbers and words of other scripts inside it run to the right.
    """
    blanks = list(itertools.accumulate(letter.text.isspace() for letter in row))
    letters = [pair for pair in zip(row, blanks, strict=True) if not pair[0].text.isspace()]
    bases = [letter for letter, _ in letters if not unicodedata.combining(letter.text)]
    letters.sort(key=lambda pair: _place(pair[0], bases))
    text, (last, word) = "", letters[0]
    reached = last.left
    for letter, its_word in letters:
        gap = (reached - letter.right) / (letter.top - letter.bottom)
        if gap > _narrowest_blank(last.text + letter.text, its_word == word):
            text += " "
        text += letter.text
        last, word, reached = letter, its_word, min(reached, letter.left)
    number = _SIGNED_NUMBER if _HEBREW.search(text) else _NUMBER
    parts, end = [], 0
    for words in _WORDS.finditer(text):
        parts += [_numbers_turned(text[end : words.start()], number), _turned(words[0])]
        end = words.end()
    return _with_brackets_turned("".join([*parts, _numbers_turned(text[end:], number)]))


def _numbers_turned(text: str, number: re.Pattern[str]) -> str:
    return number.sub(lambda found: found[0][::-1], text)


def _turned(words: str) -> str:
    """Return words turned round; a bracket before them stays, if its other one is not in them."""
    first = words[:1] if len(_ANY_BRACKET.findall(words)) % 2 else ""
    return first + words[len(first) :][::-1]


def _narrowest_blank(pair: str, is_one_word: bool) -> float:
    """Return how wide a gap between two letters is a blank, as a share of their height."""
    if _ANY_BRACKET.search(pair):
        return BESIDE_BRACKET
    return WIDEST_INSIDE if is_one_word else NARROWEST_BLANK


def _place(letter: Letter, bases: list[Letter]) -> tuple[float, bool]:
    """Return where a letter stands in its line; a point or accent right after the one it is on."""
    if not unicodedata.combining(letter.text) or not bases:
        return -_middle(letter), False

    def far(base: Letter) -> tuple[float, float]:
        outside = max(base.left - _middle(letter), _middle(letter) - base.right, 0.0)
        return outside, abs(_middle(base) - _middle(letter))

    return -_middle(min(bases, key=far)), True


def _middle(letter: Letter) -> float:
    return (letter.left + letter.right) / 2


def _with_brackets_turned(text: str) -> str:
    """Return the text with each bracket opening before a word, and closing after one."""

    def turned(found: re.Match[str]) -> str:
        before, after = text[: found.start()][-1:], text[found.end() :][:1]
        opening, closing = sorted((found[0], _MIRRORED[found[0]]))
        if not before.strip():
            return opening
        return found[0] if after.isalnum() and before.isalnum() else closing

    return _TURNS.sub(turned, text)


def join_rows(lines: list[Line]) -> list[Line]:
    """Return the lines, those joined that stand side by side and were written one after another."""
    joined: list[Line] = []
    for line in lines:
        last = joined[-1] if joined else None
        if last and _is_mark_of(last, line):
            if is_exponent(last.text, line.text):
                text = last.text + raised(line.text)
                joined[-1] = replace(last, text=text, right=line.right, top=line.top)
            continue
        beside = last and abs(line.bottom - last.bottom) < SAME_ROW * line.size
        if last and beside and last.right <= line.left + SAME_ROW * line.size:
            # pdfium cuts a line also after what is raised or lowered in it.
            is_near = line.left - last.right < NARROWEST_BLANK * line.size
            gap = "" if is_near or line.text[0] in _CLOSING else " "
            joined[-1] = replace(
                line,
                text=last.text + gap + line.text,
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
    """Return whether a line is a raised mark or number at the end of the one before it."""
    is_small = line.size <= SMALL * last.size and (_MARKS | _SIGNS).issuperset(line.text)
    return is_small and last.bottom < line.bottom < last.top and line.left > last.right - line.size


def _tables(page: Any, height: float) -> tuple[list[Box], list[Box]]:
    """Return what the file calls a table, or rules as one, and what it calls a note.

    Ruled are two rows and two columns.
    """
    from pdfplumber.structure import PDFStructTree, StructTreeMissing

    tables, others = list[Box](), list[Box]()
    for table in page.find_tables():
        if len(table.rows) > 1 and any(sum(map(bool, row.cells)) > 1 for row in table.rows):
            tables.append(table.bbox)
    try:
        tree = PDFStructTree(page.pdf, page)
        for each in tree.find_all(_IS_APART):
            (tables if each.type == "Table" else others).append(tree.element_bbox(each))
    except (StructTreeMissing, IndexError, KeyError, TypeError, ValueError):
        # Untagged, or wrongly: what stands there is seen from its place alone.
        pass

    def upward(boxes: list[Box]) -> list[Box]:
        return [(left, height - bottom, right, height - top) for left, top, right, bottom in boxes]

    return upward(tables), upward(others)


def _is_in(line: Line, table: Box) -> bool:
    x, y = (line.left + line.right) / 2, (line.bottom + line.top) / 2
    return table[0] <= x <= table[2] and table[1] <= y <= table[3]


def _agree(lines: list[Line], other: Any) -> bool:
    """Return whether pdfminer has read the words that we have; of scripts drawn to the left, their
    letters, as it leaves these as they were drawn.
    """
    theirs = Counter(word for each in other.extract_words() for word in _words(each["text"]))
    words = [line.text for line in lines]
    # Raised digits are words of their own to pdfminer, or not, by how high they stand.
    apart = [_RAISED_DIGITS.sub("", text) for text in words]
    ours = [Counter(word for text in read for word in _words(text)) for read in (words, apart)]
    odd = min((each - theirs).total() for each in ours)
    return odd <= max(ours[0].total() * MOST_ODD_WORDS, 1)


def _words(text: str) -> list[str]:
    plain = unicodedata.normalize("NFKC", text)
    return ["".join(sorted(word)) for word in _WORD.findall(plain)]
