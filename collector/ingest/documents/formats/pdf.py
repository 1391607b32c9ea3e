"""Reads the text layer of a PDF: lines into headings, paragraphs and items, with their pages.

A PDF says where letters stand, not what a paragraph is. What we conclude, from what: headings from
larger or bold letters, paragraphs from gaps, indents and short last lines; what stands again at the
edge of many pages is a running head; small lines at a page's foot that begin with a mark are notes.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import median

from collector.ingest.documents.blocks import (
    HEADING,
    MAX_TITLE,
    Block,
    DocumentText,
    clean,
    guessed,
    guessed_title,
    size,
)
from collector.ingest.documents.catalogue import DocumentFormat
from collector.ingest.documents.pdf_lines import Line, Page, count_pages, read_pages
from collector.ingest.errors import DocumentError
from collector.ingest.lines import LIST_ITEM, PARAGRAPH

MOST_PAGES = 2000
LONGEST_HEADING = 200
MARKS = "marks of items, hyphens at the ends of lines"
# Shares of the height of the text's letters.
LARGER, SMALLER, INDENT, EXTRA_GAP, CELL_GAP = 1.12, 0.93, 0.9, 0.4, 1.5
# Lines of one heading stand nearer to one another.
HEADING_LEADING = 1.35
# How much of a page's height is its edge, and of how many pages a running head stands.
EDGE, RUNNING_PAGES, RUNNING_SHARE = 0.1, 2, 0.25
# A line that leaves so much of the column empty ends a paragraph, if it ends a sentence.
SHORT = 0.8
SHOWN_PAGES = 8
# Where more lines end with a hyphen, words are parted; else hyphens stand where they were written.
PARTED_LINES = 0.03

_DIGITS = re.compile(r"\d+|\b[ivxlc]+\b", re.I)
_NUMBER_ALONE = re.compile(r"\W*(?:page|seite|p\.)?\W*#(?:\W*(?:/|of|von|de)?\W*#)?\W*", re.I)
_NOTE = re.compile(r"\s*(?:\d{1,3}|[*†‡§¹²³⁴-⁹]+|\[\d+\])[.)]?(?:\s*\S|$)")
_ITEM = re.compile(r"\s*(?:[•‣▪◦●·–\uf0b7]|-(?=\s)|\d{1,2}[.)](?=\s)|\([a-z\d]\)(?=\s))\s*")
_NUMBERED = re.compile(r"\s*\(?[\da-z]")
_SENTENCE_END = re.compile("[.!?…:。！？।؟۔][\"'”’»)\\]]*$")
_PLACEHOLDER = re.compile(
    r"\.(docx?|odt|tex|html?|indd|pdf)$|^microsoft|untitled|anonymous|about:blank|^https?:", re.I
)
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")


class Pdf(DocumentFormat):
    """A PDF with a text layer."""

    name = "pdf"
    label = "PDF"
    help = "PDF with a text layer"
    extensions = ("pdf",)
    rank = 4
    begins_with = (b"%PDF", "a PDF", ".pdf")
    needs = ("pdfplumber", "pypdfium2")
    # ours: pages of a PDF are small, and read by two libraries.
    cpu_seconds_per_mib = 300

    def read(self, path: Path, name: str) -> DocumentText:
        """Return the document in a PDF; raises DocumentError for another or an empty one."""
        with path.open("rb") as file:
            if b"%PDF-" not in file.read(1024):
                raise DocumentError(f"{name} is no PDF by what it holds: give it its right ending.")
        return read_pdf(path, name)


def read_pdf(path: Path, name: str) -> DocumentText:
    """Return the document that a PDF holds; raises DocumentError for one without text."""
    import pypdfium2
    from pdfminer.pdfparser import PDFException
    from pdfplumber.utils.exceptions import MalformedPDFException, PdfminerException

    try:
        n_pages = count_pages(path)
        if n_pages > MOST_PAGES:
            raise DocumentError(
                f"{name} has {n_pages:,} pages, more than {MOST_PAGES:,}: give it in parts."
            )
        pages = list(read_pages(path))
        import pypdfium2

        with pypdfium2.PdfDocument(path) as document:
            title = clean(document.get_metadata_dict().get("Title") or "")
        title = "" if _PLACEHOLDER.search(title) or len(title) < 3 else title[:MAX_TITLE]
    except pypdfium2.PdfiumError as error:
        locked = "password" in str(error).lower()
        why = "is locked by a password" if locked else "is damaged, or no PDF"
        raise DocumentError(f"{name} {why}.") from error
    except (
        MalformedPDFException,
        PdfminerException,
        PDFException,
        LookupError,
        ValueError,
        TypeError,
        RecursionError,
    ) as error:
        raise DocumentError(f"{name} is damaged: pdfminer cannot read it.") from error
    if not any(page.lines for page in pages):
        raise DocumentError(
            f"{name} has no text layer: it is scanned. Have its text recognised (OCR) first."
        )
    blocks, left_out = read_blocks(pages)
    named, notes = guessed_title(blocks) or title, list(_notes(pages))
    return DocumentText(named, blocks, n_pages=n_pages, notes=notes, left_out=left_out)


def read_blocks(pages: Sequence[Page]) -> tuple[list[Block], Counter[str]]:
    """Return what the lines of all pages say, in the order of reading, and what is left out."""
    lines, left_out = _text_lines(pages)
    if not lines:
        return [], left_out
    body = _body_size(lines)
    joined = _Joiner(lines, body)
    for line in lines:
        joined.add(line)
    blocks = guessed(joined.done())
    left_out[MARKS] += _size(lines) - size(*(block.text for block in blocks))
    return blocks, +left_out


def _notes(pages: Sequence[Page]) -> Iterator[str]:
    for found, what in (
        ([page.number for page in pages if not page.agrees], "read differently by two libraries"),
        ([page.number for page in pages if not page.lines], "without text"),
        ([page.number for page in pages if _has_table(page)], "with tables, which are left out"),
    ):
        if found:
            shown = ", ".join(map(str, found[:SHOWN_PAGES]))
            more = f" and {len(found) - SHOWN_PAGES} more" if found[SHOWN_PAGES:] else ""
            yield f"Page{'s' if found[1:] else ''} {what}: {shown}{more}."


def _has_table(page: Page) -> bool:
    """Return whether a table of the page is left out, ruled or of rows with wide gaps."""
    inside = [line for line in page.lines if not _at_edge(line, page)]
    return page.n_tables > 0 or len(_without_rows(inside)) < len(inside)


def _text_lines(pages: Sequence[Page]) -> tuple[list[Line], Counter[str]]:
    """Return the lines of the running text, and how much else there is by rule."""
    counts = Counter(
        each
        for page in pages
        for each in {_pattern(line.text) for line in page.lines if _at_edge(line, page)}
    )
    least = max(RUNNING_PAGES, RUNNING_SHARE * len(pages))
    running = {pattern for pattern, number in counts.items() if number >= least}
    every = [line for page in pages for line in page.lines]
    body = _body_size(every) if every else 0.0
    text, left_out = list[Line](), Counter[str]()
    for page in pages:
        kept = [line for line in page.lines if not _is_running(line, page, running, body)]
        prose = _without_rows(kept)
        without_notes = list(_without_notes(prose, body))
        left_out["running heads"] += _size(page.lines) - _size(kept)
        left_out["tables"] += page.in_tables + _size(kept) - _size(prose)
        left_out["notes"] += page.in_notes + _size(prose) - _size(without_notes)
        text += without_notes
    return text, left_out


def _size(lines: Iterable[Line]) -> int:
    return size(*(line.text for line in lines))


def _body_size(lines: Iterable[Line]) -> float:
    """Return the height of most letters."""
    sizes: Counter[float] = Counter()
    for line in lines:
        sizes[round(line.size * 2) / 2] += len(line.text)
    return sizes.most_common(1)[0][0]


def _at_edge(line: Line, page: Page) -> bool:
    return line.bottom > page.height * (1 - EDGE) or line.top < page.height * EDGE


def _pattern(text: str) -> str:
    return _DIGITS.sub("#", text.casefold())


def _is_running(line: Line, page: Page, running: set[str], body: float) -> bool:
    """Return whether a line at a page's edge is a number, small, or there again on other pages."""
    pattern = _pattern(line.text)
    alone = _NUMBER_ALONE.fullmatch(pattern) is not None
    small = line.size < SMALLER * body
    return _at_edge(line, page) and (alone or small or pattern in running)


def _without_rows(lines: Sequence[Line]) -> list[Line]:
    """Return the lines without two rows and more that stand one under another with wide gaps."""
    wide = [line.gap > CELL_GAP * line.size and not _ITEM.match(line.text) for line in lines]
    around = [False, *wide, False]
    return [
        line
        for number, line in enumerate(lines, start=1)
        if not (around[number] and (around[number - 1] or around[number + 1]))
    ]


def _without_notes(lines: Sequence[Line], body: float) -> Iterator[Line]:
    """Leave out small lines below the text, from one on that begins with the mark of a note."""
    text = [line for line in lines if line.size >= SMALLER * body]
    in_note = False
    for line in lines:
        is_below = line.size < SMALLER * body and not any(
            each.bottom < line.bottom and each.left < line.right and line.left < each.right
            for each in text
        )
        is_marked = line.begins_with_mark or _NOTE.match(line.text) is not None
        in_note = is_below and (in_note or is_marked)
        if not in_note:
            yield line


class _Joiner:
    """Puts lines together, each after the one before it."""

    def __init__(self, lines: Sequence[Line], body: float) -> None:
        self._body = body
        gaps = [
            above.bottom - line.bottom
            for above, line in pairwise(lines)
            if above.page == line.page and 0 < above.bottom - line.bottom < 3 * body
        ]
        self._leading = median(gaps) if gaps else body
        found = (word for line in lines for word in _WORD.findall(line.text))
        self._words = Counter(word.casefold() for word in found)
        n_parted = sum(line.is_hyphened for line in lines)
        self._parts_words = n_parted > PARTED_LINES * len(lines)
        larger = {round(line.size) for line in lines if line.size > LARGER * body}
        self._levels = {size: n for n, size in enumerate(sorted(larger, reverse=True), start=1)}
        self._blocks: list[Block] = []
        self._waiting: list[Line] = []
        self._kind, self._level = PARAGRAPH, 0

    def add(self, line: Line) -> None:
        """Take the next line."""
        level = self._heading_level(line)
        kind = HEADING if level else (LIST_ITEM if _ITEM.match(line.text) else PARAGRAPH)
        last = self._waiting[-1] if self._waiting else None
        if last is not None and not self._goes_on(last, line, kind, level):
            self._end()
        if not self._waiting:
            self._kind, self._level = kind, level
        self._waiting.append(line)

    def done(self) -> list[Block]:
        """Return all blocks."""
        self._end()
        return self._blocks

    def _heading_level(self, line: Line) -> int:
        if len(line.text) > LONGEST_HEADING or not any(map(str.isalpha, line.text)):
            return 0
        if line.size > LARGER * self._body:
            return self._levels[round(line.size)]
        is_short = len(line.text) < LONGEST_HEADING / 2 and not _SENTENCE_END.search(line.text)
        return len(self._levels) + 1 if line.is_bold and is_short else 0

    def _goes_on(self, last: Line, line: Line, kind: str, level: int) -> bool:
        if self._kind == HEADING or kind == HEADING:
            below = last.bottom - line.bottom
            return level == self._level and 0 < below < HEADING_LEADING * line.size
        if (
            kind == LIST_ITEM and (self._kind == LIST_ITEM or not _NUMBERED.match(line.text))
        ) or abs(last.size - line.size) > (1 - SMALLER) * self._body:
            return False
        below = last.bottom - line.bottom
        if last.page == line.page and 0 < below < 4 * self._leading:
            if below > self._leading + EXTRA_GAP * self._body:
                return False
            return not (self._is_indented(last, line) or self._ends_short(last))
        return last.is_hyphened or not _SENTENCE_END.search(last.text)

    def _is_indented(self, last: Line, line: Line) -> bool:
        step = last.right - line.right if line.is_right_to_left else line.left - last.left
        return INDENT * self._body < step and self._kind == PARAGRAPH

    def _ends_short(self, last: Line) -> bool:
        widest = max(line.right - line.left for line in self._waiting)
        is_short = last.right - last.left < SHORT * widest
        return is_short and bool(_SENTENCE_END.search(last.text))

    def _end(self) -> None:
        lines, self._waiting = self._waiting, []
        text, pages, before = "", list[tuple[int, int]](), None
        for line in lines:
            words = line.text
            if not text and self._kind == LIST_ITEM:
                words = words[found.end() :] if (found := _ITEM.match(words)) else words
            if text.endswith("-") and before is not None and before.is_hyphened:
                text = self._without_hyphen(text, words)
            elif text and words:
                text += " "
            if not pages or pages[-1][1] != line.page:
                pages.append((len(text), line.page))
            text, before = text + words, line
        if any(map(str.isalnum, text)):
            self._blocks.append(Block(self._kind, text, self._level, pages=pages))

    def _without_hyphen(self, text: str, following: str) -> str:
        """Return the text ready for what follows: hyphens that belong to words stay."""
        parts = re.search(r"([^\W\d_]+)-$", text), re.match(r"[^\W\d_]+", following)
        if not all(parts):
            return text
        first, second = (part[0].rstrip("-").casefold() for part in parts if part)
        joined, parted = self._words[first + second], self._words[f"{first}-{second}"]
        seen = parted != joined
        keeps = (parted > joined if seen else not self._parts_words) or not following[0].islower()
        return text if keeps else text[:-1]
