"""Draws tables and scores for a terminal."""

from collections.abc import Iterable, Sequence
from io import StringIO
from textwrap import fill

from rich.console import Console
from rich.markup import escape
from rich.table import Table as Drawn

from annotation.metrics.result import Result
from annotation.tables.table import Table

WIDTH = 110
UNLIMITED = 10_000
# In characters: the names of most measures are read whole.
LEAST_WIDTH, WIDTH_OF_COLUMN = 100, 14


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
                # In lines as short as their cells, so that no number is cut.
                narrow = []
                for column, cells in zip(
                    table.columns, zip(*table.texts(), strict=True), strict=True
                ):
                    longest = max(map(len, [*cells, *column.split()]))
                    narrow.append(
                        fill(column, longest, break_long_words=False, break_on_hyphens=False)
                    )
                shape = _shape(table, head, narrow)
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


def scores_for_terminal(result: Result, *, in_colour: bool) -> str:
    """Return the scores for a person to read."""
    table = Drawn()
    table.add_column(result["columns"][0], no_wrap=True)
    for column in result["columns"][1:]:
        table.add_column(column, justify="right")
    for row in result["rows"]:
        table.add_row(*row)
    width = max(LEAST_WIDTH, WIDTH_OF_COLUMN * len(table.columns))
    console = Console(file=StringIO(), force_terminal=in_colour, width=width)
    console.print(table)
    for note in result["notes"]:
        console.print(note, markup=False, highlight=False)
    return console.file.getvalue()  # type: ignore[attr-defined]


def scores_as_plain(result: Result) -> dict[str, object]:
    """Return exactly the official keys; what was asked for besides is under "by" and "beside"."""
    more = {"by": result["groups"], "beside": result.get("beside")}
    return {**result["official"], **{name: of for name, of in more.items() if of}}
