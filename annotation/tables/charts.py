"""Tables to take away: each as CSV, numbers unrounded, and its shares drawn with intervals."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from django.template.loader import render_to_string

from annotation.agreement.kappa import bootstrap_interval
from annotation.metrics.result import ScoreError
from annotation.tables.table import PerItem, Proportion, Table, text
from common.spreadsheet import csv_text

# Where a release has its tables.
FOLDER = "tables"
TEMPLATE = "dashboard/releases/chart.svg"
LEVEL = 0.95
# Intervals are drawn anew for every drawing: with the same seed they are the same.
SEED = 0
# As many colours as the drawing has.
COLOURS = 4
# In pixels: a bar with what is below it, the space between rows, above all of them and below them.
BAR, GAP, HEAD, FOOT = 16, 12, 66, 46
# Where bars begin, and how long the whole is.
LEFT, LENGTH = 260, 320
LABEL_CHARACTERS = 34


@dataclass(frozen=True)
class Bar:
    """A share: `width` long; from `low` to `high` goes its interval, None where none is known."""

    top: int
    colour: int
    width: float
    low: float | None
    high: float | None
    words: str

    @property
    def middle(self) -> int:
        """Return how far down its interval stands."""
        return self.top + BAR // 2 - 2


@dataclass(frozen=True)
class Row:
    """What the bars of one row of the table are of; `middle` is where the words stand."""

    label: str
    whole_label: str
    middle: float
    bars: Sequence[Bar]


@dataclass(frozen=True)
class Chart:
    """The shares of a table as bars, laid out in pixels from the top."""

    title: str
    simulated: str
    note: str
    columns: Sequence[tuple[int, str]]
    rows: Sequence[Row]
    height: int

    @property
    def bottom(self) -> int:
        """Return how far down the lowest bar ends."""
        return self.height - FOOT

    @property
    def grid(self) -> list[tuple[int, int]]:
        """Return where the lines of so many per cent stand."""
        return [(LEFT + LENGTH * percent // 100, percent) for percent in range(0, 101, 25)]


def as_csv(table: Table) -> str:
    """Return the table as CSV; beside each proportion stand its interval and what it is of."""
    known = {
        at
        for at in range(len(table.columns))
        if table.is_share(at) and any(isinstance(row[at], Proportion) for row in table.rows)
    }
    head: list[str] = []
    for at, column in enumerate(table.columns):
        head += [column, *([f"{column} low", f"{column} high", f"{column} of"] * (at in known))]
    lines: list[list[object]] = [[*head]]
    for row in table.rows:
        line: list[object] = []
        for at, cell in enumerate(row):
            line.append(cell)
            if at in known and isinstance(cell, Proportion):
                line += [*interval(cell), cell.whole]
            elif at in known:
                line += [None, None, None]
        lines.append(line)
    return csv_text(lines)


def has_chart(table: Table) -> bool:
    """Return whether there is a share to draw; a map of shades is drawn by its table."""
    return any(isinstance(row[at], float) for row in table.rows for at in _drawn(table))


def chart_of(table: Table) -> Chart | None:
    """Return the table's shares laid out, None where it has none, or is a map of shades."""
    if not has_chart(table):
        return None
    columns = _drawn(table)
    rows, top = [], HEAD
    for cells in table.rows:
        bars = list(_bars(cells, columns, top))
        height = max(len(bars), 1) * BAR
        words = [cells[0]]
        for cell in cells[1:]:
            if not isinstance(cell, str):
                break
            words.append(cell)
        label = " · ".join(text(word) for word in words)
        short = label if len(label) <= LABEL_CHARACTERS else f"{label[: LABEL_CHARACTERS - 1]}…"
        rows.append(Row(short, label, top + height / 2, bars))
        top += height + GAP
    names = [
        (at % COLOURS, table.columns[column].removesuffix("share").strip() or "share")
        for at, column in enumerate(columns)
    ]
    drawn = any(bar.low is not None for row in rows for bar in row.bars)
    by_item = any(isinstance(cell, PerItem) for cells in table.rows for cell in cells)
    how = "Wilson; of several votes on an item, bootstrap over items" if by_item else "Wilson"
    note = f"Lines: {100 * LEVEL:.0f} % intervals ({how})." if drawn else ""
    return Chart(table.title, table.simulated, note, names, rows, top + FOOT)


def as_svg(table: Table) -> str:
    """Return the table's shares as a drawing of its own, blank where it has none."""
    chart = chart_of(table)
    return render_to_string(TEMPLATE, {"chart": chart}) if chart else ""


def files_of(tables: Sequence[Table]) -> Iterator[tuple[str, str]]:
    """Yield (file name, text) of each table that has rows: NAME.csv, and NAME.svg of shares."""
    for table in tables:
        if table.rows:
            yield f"{table.name}.csv", as_csv(table)
            if has_chart(table):
                yield f"{table.name}.svg", as_svg(table)


def links_to(table: Table) -> str:
    """Return where a release's card finds the files of a table, in Markdown; blank for none."""
    if not table.rows:
        return ""
    drawing = f"![{table.title}]({FOLDER}/{table.name}.svg)\n\n" if has_chart(table) else ""
    return f"{drawing}[{table.name}.csv]({FOLDER}/{table.name}.csv)\n"


def write_files(tables: Sequence[Table], folder: Path) -> list[Path]:
    """Write the files into a new folder; raises ScoreError where that cannot be done."""
    try:
        folder.mkdir(parents=True)
        paths = []
        for name, content in files_of(tables):
            paths.append(folder / name)
            paths[-1].write_text(content, encoding="utf-8", newline="")
    except FileExistsError:
        raise ScoreError(f"{folder} is there already: name a new folder.") from None
    except OSError as error:
        raise ScoreError(f"{folder}: it cannot be written ({error.strerror}).") from None
    return paths


def interval(proportion: Proportion) -> tuple[float, float]:
    """Return the ends of the interval at LEVEL: Wilson's, or the bootstrap's over items."""
    import numpy
    from scipy.stats import binomtest

    part, whole = round(proportion * proportion.whole), proportion.whole
    if isinstance(proportion, PerItem):
        items = proportion.items
        shares = {same / of for same, of in items}
        if len(shares) > 1 and max(of for _, of in items) > 1:
            parts = numpy.repeat(list(items), list(items.values()), axis=0)
            return bootstrap_interval(
                parts, lambda sums: sums[..., 0] / sums[..., 1], SEED, level=LEVEL
            )
        # Items that are all alike are the same when they are drawn anew.
        n_items = sum(items.values())
        part, whole = n_items * part // whole, n_items
    found = binomtest(part, whole).proportion_ci(LEVEL, method="wilson")
    return float(found.low), float(found.high)


def _drawn(table: Table) -> list[int]:
    """Return the places of the columns whose shares are drawn as bars."""
    return [
        at for at in range(len(table.columns)) if table.is_share(at) and not table.is_shaded(at)
    ]


def _bars(cells: Sequence[object], columns: Sequence[int], top: int) -> Iterator[Bar]:
    for number, at in enumerate(columns):
        value = cells[at]
        if isinstance(value, float):
            low, high = interval(value) if isinstance(value, Proportion) else (None, None)
            words = f"{100 * value:.1f} %"
            if low is not None and high is not None:
                words += f" ({100 * low:.1f} – {100 * high:.1f})"
            yield Bar(
                top + number * BAR,
                number % COLOURS,
                _pixels(min(max(value, 0.0), 1.0)),
                None if low is None else LEFT + _pixels(low),
                None if high is None else LEFT + _pixels(high),
                words,
            )


def _pixels(share: float) -> float:
    return round(LENGTH * share, 2)
