"""A table of a report as plain data, to be drawn in a terminal, on a page or in a dataset card."""

from collections.abc import Sequence
from dataclasses import dataclass

Cell = str | int | float | None
MISSING = "–"


@dataclass(frozen=True)
class Table:
    """`name` is stable for scripts; shares are floats from 0 to 1 in columns that end in "share".

    rows: as long as `columns` each; a cell None means that there is nothing to say yet.
    """

    name: str
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    note: str = ""

    def texts(self) -> list[list[str]]:
        """Return the rows as a person reads them."""
        return [
            [text(cell, column) for cell, column in zip(row, self.columns, strict=True)]
            for row in self.rows
        ]

    def plain(self) -> dict[str, object]:
        """Return the table for JSON, numbers unrounded."""
        return {
            "name": self.name,
            "title": self.title,
            "columns": list(self.columns),
            "rows": [list(row) for row in self.rows],
            "note": self.note,
        }


def text(cell: Cell, column: str = "") -> str:
    """Return a cell as a person reads it: shares in percent, other fractions to two places."""
    if cell is None:
        return MISSING
    if isinstance(cell, float):
        return f"{100 * cell:.1f} %" if column.endswith("share") else f"{cell:,.2f}"
    return f"{cell:,}" if isinstance(cell, int) else cell


def share(part: int, whole: int) -> float | None:
    """Return part / whole, None where there is no whole."""
    return part / whole if whole else None


def markdown(table: Table) -> str:
    """Return the table in Markdown, with its title as a heading above and its note below."""
    lines = [
        f"### {table.title}",
        "",
        _line(table.columns),
        _line(["---", *["---:"] * (len(table.columns) - 1)]),
        *(_line(row) for row in table.texts()),
    ]
    if table.note:
        lines += ["", table.note]
    return "\n".join(lines) + "\n"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
