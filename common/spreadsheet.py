"""CSV out and in: no formula in anybody's spreadsheet; any usual encoding and delimiter."""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

# What Excel, LibreOffice and Sheets take for the beginning of a formula, full-width signs too.
_FORMULA = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")
_NUMBER = re.compile(r"[+-]?[0-9][0-9.,]*%?")
MOST_BYTES = 10_000_000
MOST_LINES = 20_000


def csv_lines(
    rows: Iterable[Iterable[object]], *, end: str = "\r\n", verbatim: bool = False
) -> Iterator[str]:
    """Yield the rows, the head among them, as lines of CSV whose every cell is plain.

    verbatim: every cell as it is, for an official layout that programs read by the byte.
    """
    written = str if verbatim else plain_cell
    for row in rows:
        line = io.StringIO()
        csv.writer(line, lineterminator=end).writerow(
            "" if cell is None else written(str(cell)) for cell in row
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


class UploadError(ValueError):
    """The file cannot be read; the message says what to do."""


@dataclass(frozen=True)
class Table:
    """A file's columns as they are written, and its lines: (line number, value by column)."""

    columns: list[str]
    lines: list[tuple[int, dict[str, str]]] = field(default_factory=list)


def text_of(content: bytes) -> str:
    """Return the text of an uploaded file: UTF-8 (with or without mark), UTF-16 or Windows-1252.

    Raises UploadError when it is too large or holds no text.
    """
    if len(content) > MOST_BYTES:
        raise UploadError("The file is larger than 10 MB. Split it and upload the parts.")
    encoding = "utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError:
        text = content.decode("cp1252", errors="replace")
    if "\x00" in text:
        raise UploadError("This is not a CSV file. Save the sheet as CSV and upload that.")
    return text


def read_table(text: str, required: Sequence[str] = (), *, is_ours: bool = False) -> Table:
    """Return the table of a CSV text, empty lines left out.

    is_ours: `csv_text` wrote it, so an apostrophe before a sign is taken away again. Raises
    UploadError for an empty file, columns without a name or named twice, missing columns, and
    lines longer than the header.
    """
    text = text.lstrip("\ufeff").lstrip("\r\n")
    if not text.strip():
        raise UploadError("The file is empty. Its first line has to name the columns.")
    try:
        lines = list(csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text)))
    except csv.Error as error:
        raise UploadError(f"The file cannot be read as CSV: {error}.") from None
    columns = [name.strip() for name in lines[0]]
    while columns and not columns[-1]:
        columns.pop()
    _check_columns(columns, required)
    if len(lines) - 1 > MOST_LINES:
        raise UploadError(f"The file has more than {MOST_LINES} lines. Split it.")
    found = []
    for number, cells in enumerate(lines[1:], start=2):
        if not any(cell.strip() for cell in cells):
            continue
        if any(cell.strip() for cell in cells[len(columns) :]):
            raise UploadError(
                f"Row {number} has more cells than the first line has columns. "
                "Put text that holds the delimiter in quotes."
            )
        padded = [*map(typed_cell if is_ours else str, cells), *[""] * (len(columns) - len(cells))]
        found.append((number, dict(zip(columns, padded, strict=False))))
    return Table(columns, found)


def _check_columns(columns: list[str], required: Sequence[str]) -> None:
    if not columns or not all(columns):
        raise UploadError("Every column needs a name in the first line.")
    if twice := sorted({name for name in columns if columns.count(name) > 1}):
        raise UploadError(f"The column {twice[0]} is there twice. Rename one of them.")
    if missing := [name for name in required if name not in columns]:
        raise UploadError(f"The column {missing[0]} is missing. Name it in the first line.")


def _delimiter(text: str) -> str:
    """Return what separates the names in the first line; quoted names may hold any of them."""
    first = text.lstrip("\r\n").partition("\n")[0]
    outside = "".join(first.split('"')[::2])
    return max(",;\t", key=outside.count)
