"""Scores as a terminal shows them, and as a program reads them."""

from io import StringIO

from rich.console import Console
from rich.table import Table

from annotation.metrics.result import Result

# In characters: the names of most measures are read whole.
LEAST_WIDTH, WIDTH_OF_COLUMN = 100, 14


def as_table(result: Result, *, in_colour: bool) -> str:
    """Return the scores for a person to read."""
    table = Table()
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


def as_plain(result: Result) -> dict[str, object]:
    """Return exactly the official keys; what was asked for besides is under "by" and "beside"."""
    more = {"by": result["groups"], "beside": result.get("beside")}
    return {**result["official"], **{name: of for name, of in more.items() if of}}
