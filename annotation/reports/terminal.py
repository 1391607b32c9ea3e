"""Draws tables for a terminal."""

from collections.abc import Iterable
from io import StringIO

from rich.console import Console
from rich.markup import escape
from rich.table import Table as Drawn

from annotation.reports.table import Table

WIDTH = 110


def drawn(tables: Iterable[Table], *, in_colour: bool) -> str:
    """Return the tables one below the other, each with its note."""
    console = Console(file=StringIO(), force_terminal=in_colour, width=WIDTH)
    for table in tables:
        head = "\n".join(filter(None, (table.title, table.simulated)))
        shape = Drawn(title=escape(head), title_justify="left")
        for position, column in enumerate(table.columns):
            shape.add_column(column, justify="right" if position else "left")
        for row in table.texts():
            shape.add_row(*row)
        if table.rows:
            console.print(shape)
        else:
            console.print(head, style="italic", markup=False, highlight=False)
        if table.note:
            console.print(table.note, markup=False, highlight=False)
        console.print()
    return console.file.getvalue()  # type: ignore[attr-defined]
