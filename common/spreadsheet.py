"""The one writer of CSV: what strangers wrote is no formula in somebody's spreadsheet."""

import csv
import io
import re
from collections.abc import Iterable, Iterator

# What Excel, LibreOffice and Sheets take for the beginning of a formula, full-width signs too.
_FORMULA = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")
_NUMBER = re.compile(r"[+-]?[0-9][0-9.,]*%?")


def csv_lines(rows: Iterable[Iterable[object]], *, end: str = "\r\n") -> Iterator[str]:
    """Yield the rows, the head among them, as lines of CSV whose every cell is plain."""
    for row in rows:
        line = io.StringIO()
        csv.writer(line, lineterminator=end).writerow(
            "" if cell is None else plain_cell(str(cell)) for cell in row
        )
        yield line.getvalue()


def csv_text(rows: Iterable[Iterable[object]]) -> str:
    """Return the rows, the head among them, as one CSV whose every cell is plain."""
    return "".join(csv_lines(rows))


def plain_cell(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula: with an apostrophe, where it might."""
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def typed_cell(text: str) -> str:
    """Return what `plain_cell` was given."""
    return text[1:] if text[:1] == "'" and _FORMULA.match(text) else text
