"""A table of a report as plain data, and a flow beside it: for a terminal, a page or a card."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

# In pixels: all items together, the room of a label's two lines, of a group's heading, and between.
WHOLE, LEAST, HEADING, GAP = 300.0, 34.0, 24.0, 4.0
# As many colours as the style sheet has; the bands of further groups begin with the first again.
COLOURS = 4

# A label and the group it is in, "" for none.
Label = tuple[str, str]
Cell = str | int | float | None
MISSING = "–"
FIGURE = re.compile(rf"\d|^{MISSING}$")
# The note of a table that waits for questions.
NO_QUESTION = "No question is in the dataset yet; the figures come with the first that is kept."


@dataclass(frozen=True)
class End:
    """A label at one side: `top` and `height` of its bar, `middle` of the words beside it.

    heading: its group, where the group begins, else ""; the words stand at `heading_at`.
    """

    label: str
    number: int
    share: float
    top: float
    height: float
    heading: str
    heading_at: float
    colour: int = 0

    @property
    def middle(self) -> float:
        """Return where the middle of the bar is."""
        return round(self.top + self.height / 2, 2)

    @property
    def figures(self) -> str:
        """Return how many items have the label, and their share, in words."""
        return f"{self.number:,} · {100 * self.share:.1f} %"


@dataclass(frozen=True)
class Band:
    """The items with both labels: `path` is SVG's, 100 wide; `words` tell them."""

    path: str
    colour: int
    words: str


@dataclass(frozen=True)
class Flow:
    """A flow laid out in pixels from the top; across, bands begin at 0 and end at 100."""

    title: str
    sources: Sequence[End]
    targets: Sequence[End]
    bands: Sequence[Band]
    height: float


def flow_of(
    title: str,
    counts: Mapping[tuple[str, str], int],
    sources: Sequence[Label],
    targets: Sequence[Label],
) -> Flow | None:
    """Return the flow of items by (source, target), labels in the order given; None for no item.

    Labels that no item has are left out. Bands have the colour of their source's group.
    """
    whole = sum(counts.values())
    if not whole:
        return None
    of_sources: Counter[str] = Counter()
    of_targets: Counter[str] = Counter()
    for (source, target), number in counts.items():
        of_sources[source] += number
        of_targets[target] += number
    left, right = _ends(sources, of_sources, whole), _ends(targets, of_targets, whole)
    height = max(_bottom(left), _bottom(right))
    # The shorter side stands in the middle of the longer one.
    left, right = (
        [
            replace(
                end,
                top=round(end.top + by, 2),
                height=round(end.height, 2),
                heading_at=round(end.heading_at + by, 2),
            )
            for end in ends
        ]
        for ends, by in ((ends, (height - _bottom(ends)) / 2) for ends in (left, right))
    )
    return Flow(title, left, right, _bands(counts, left, right, whole), round(height, 2))


def _ends(labels: Sequence[Label], numbers: Mapping[str, int], whole: int) -> list[End]:
    """Return the labels one below the other, each with room for its words."""
    colours: dict[str, int] = {}
    for label, group in labels:
        colours.setdefault(group or label, len(colours) % COLOURS)
    found: list[End] = []
    at, before = 0.0, ""
    for label, group in labels:
        number = numbers.get(label, 0)
        if not number:
            continue
        heading = group if group != before else ""
        before = group
        heading_at = at + HEADING - GAP
        at += HEADING if heading else 0
        height = number / whole * WHOLE
        room = max(height, LEAST)
        top = at + (room - height) / 2
        colour = colours[group or label]
        found.append(End(label, number, number / whole, top, height, heading, heading_at, colour))
        at += room + GAP
    return found


def _bottom(ends: Sequence[End]) -> float:
    last = ends[-1]
    return last.top + last.height / 2 + max(last.height, LEAST) / 2 + GAP


def _bands(
    counts: Mapping[tuple[str, str], int], left: Sequence[End], right: Sequence[End], whole: int
) -> list[Band]:
    """Return the bands, side by side at both ends in the order of the labels."""
    free = {end.label: end.top for end in right}
    found = []
    for source in left:
        begins = source.top
        for target in right:
            number = counts.get((source.label, target.label), 0)
            if not number:
                continue
            thick = number / whole * WHOLE
            share = 100 * number / source.number
            words = f"{source.label} → {target.label}: {number:,}, {share:.0f} % of its items"
            ends = free[target.label]
            top = f"M0,{begins:.2f} C50,{begins:.2f} 50,{ends:.2f} 100,{ends:.2f}"
            back = f"V{ends + thick:.2f} C50,{ends + thick:.2f} 50,{begins + thick:.2f}"
            path = f"{top} {back} 0,{begins + thick:.2f} Z"
            found.append(Band(path, source.colour, words))
            begins += thick
            free[target.label] += thick
    return found


@dataclass(frozen=True)
class Table:
    """`name` is stable for scripts; shares are floats from 0 to 1 in columns that end in "share".

    rows: as long as `columns` each; a cell None means that there is nothing to say yet.
    shaded_from: from this column on cells are shares of their row, drawn as shades of a map.
    of_people: its figures are of people's work alone. simulated: what its head says of simulated
    work, blank where there is none. flow: what is drawn of it besides. named: its first column has
    names as a program takes them, which nothing may reword.
    """

    name: str
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    note: str = ""
    shaded_from: int | None = None
    of_people: bool = False
    simulated: str = ""
    flow: Flow | None = None
    named: bool = False

    def is_share(self, at: int) -> bool:
        """Return whether the cells of the column are shares, 0 to 1."""
        return self.columns[at].endswith("share") or self.is_shaded(at)

    def is_shaded(self, at: int) -> bool:
        """Return whether the column is part of the map."""
        return self.shaded_from is not None and at >= self.shaded_from

    def texts(self) -> list[list[str]]:
        """Return the rows as a person reads them."""
        return [
            [
                whole_percent(cell) if self.is_shaded(at) else text(cell, self.columns[at])
                for at, cell in enumerate(row)
            ]
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
            "simulated": self.simulated,
        }


def text(cell: Cell, column: str = "") -> str:
    """Return a cell as a person reads it: shares in percent, other fractions to two places."""
    if cell is None:
        return MISSING
    if isinstance(cell, float):
        return f"{100 * cell:.1f} %" if column.endswith("share") else f"{cell:,.2f}"
    return f"{cell:,}" if isinstance(cell, int) else cell


def whole_percent(cell: Cell) -> str:
    """Return a share in whole per cents, blank for none at all, so that a map stays readable."""
    return (f"{100 * cell:.0f}" if cell else "") if isinstance(cell, float) else text(cell)


class Proportion(float):
    """A share of so many items, each of which counts or does not: it has an interval."""

    whole: int

    def __new__(cls, part: int, whole: int) -> "Proportion":
        """Return part / whole."""
        made = super().__new__(cls, part / whole)
        made.whole = whole
        return made

    def __getnewargs__(self) -> tuple[int, int]:  # type: ignore[override]
        """Return what it is made of: copied and kept, it is a share still."""
        return round(self * self.whole), self.whole


class PerItem(Proportion):
    """A share of parts that come by items: of the pairs of each question's annotators, say.

    The parts of an item are no draws of their own: its interval is one over items.
    """

    items: Mapping[tuple[int, int], int]

    def __new__(cls, items: Mapping[tuple[int, int], int]) -> "PerItem":  # type: ignore[misc]
        """Return the share of all parts. items: (part, whole) of an item -> how many are so."""
        part = sum(part * number for (part, _), number in items.items())
        whole = sum(whole * number for (_, whole), number in items.items())
        made: PerItem = super().__new__(cls, part, whole)  # type: ignore[assignment]
        made.items = dict(items)
        return made

    def __getnewargs__(self) -> tuple[Mapping[tuple[int, int], int]]:  # type: ignore[override]
        """Return what it is made of."""
        return (self.items,)


def share_of_items(items: Mapping[tuple[int, int], int]) -> Proportion | None:
    """Return the share of all parts of items, (part, whole) -> how many; None without any part."""
    found = {one: number for one, number in items.items() if one[1]}
    return PerItem(found) if found else None


def share(part: float, whole: int) -> float | None:
    """Return part / whole, None where there is no whole; a Proportion where items are counted."""
    if not whole:
        return None
    if isinstance(part, int) and 0 <= part <= whole:
        return Proportion(part, whole)
    return part / whole


def are_figures(texts: Iterable[str]) -> bool:
    """Return whether a column has figures alone, or the dash for one that is missing."""
    return all(FIGURE.search(words) for words in texts)


def markdown(table: Table) -> str:
    """Return the table in Markdown, with its title as a heading above and its note below."""
    rows = table.texts()
    of_figures = [are_figures(row[at] for row in rows) for at in range(len(table.columns))]
    lines = [
        f"### {table.title}",
        "",
        *([f"**{table.simulated}**", ""] if table.simulated else []),
        _line(table.columns),
        _line(["---", *("---:" if figures else "---" for figures in of_figures[1:])]),
        *(_line(row) for row in rows),
    ]
    if table.note:
        lines += ["", table.note]
    return "\n".join(lines) + "\n"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
