"""Draws tables for a terminal."""

from collections.abc import Iterable, Iterator, Sequence
from io import StringIO
from textwrap import fill

from rich.console import Console
from rich.markup import escape
from rich.table import Table as Drawn

from annotation.tables.table import Table

WIDTH = 110
UNLIMITED = 10_000


def table_lines(tables: Iterable[Table], *, in_colour: bool) -> str:
    """Return the tables one below the other, each with its note.

    A table is as wide as WIDTH, or wider where words or numbers would be cut.
    """
    console = Console(file=StringIO(), force_terminal=in_colour, width=UNLIMITED)
    for table in tables:
        head = "\n".join(filter(None, (table.title, table.simulated)))
        if table.rows:
            shape = _shape(table, head, table.columns)
            if console.measure(shape).maximum > WIDTH:
                shape = _shape(table, head, list(_narrow(table)))
            console.print(shape, width=max(WIDTH, console.measure(shape).minimum))
        else:
            console.print(head, style="italic", markup=False, highlight=False, width=WIDTH)
        if table.note:
            console.print(table.note, markup=False, highlight=False, width=WIDTH)
        console.print()
    return console.file.getvalue()  # type: ignore[attr-defined]


def _shape(table: Table, head: str, columns: Sequence[str]) -> Drawn:
    shape = Drawn(title=escape(head), title_justify="left")
    rows = table.texts()
    for position, column in enumerate(columns):
        words = [
            word for cell in (column, *(row[position] for row in rows)) for word in cell.split()
        ]
        # What would else be cut to make room for prose in other columns.
        least = max(map(len, words), default=0)
        shape.add_column(column, justify="right" if position else "left", min_width=least)
    for row in rows:
        shape.add_row(*row)
    return shape


def _narrow(table: Table) -> Iterator[str]:
    """Yield the heads of columns in lines as short as their cells, so that no number is cut."""
    for column, cells in zip(table.columns, zip(*table.texts(), strict=True), strict=True):
        longest = max(map(len, [*cells, *column.split()]))
        yield fill(column, longest, break_long_words=False, break_on_hyphens=False)
