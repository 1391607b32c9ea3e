"""A flow drawn: from the labels of one facet to those of another, as wide as items have both."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

# In pixels: all items together, the room of a label's two lines, of a group's heading, and between.
WHOLE, LEAST, HEADING, GAP = 300.0, 34.0, 24.0, 4.0
# As many colours as the style sheet has; the bands of further groups begin with the first again.
COLOURS = 4

# A label and the group it is in, "" for none.
Label = tuple[str, str]


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
    left = _ends(sources, _summed(counts, 0), whole)
    right = _ends(targets, _summed(counts, 1), whole)
    height = max(_bottom(left), _bottom(right))
    left, right = (_lowered(ends, (height - _bottom(ends)) / 2) for ends in (left, right))
    return Flow(title, left, right, _bands(counts, left, right, whole), round(height, 2))


def _summed(counts: Mapping[tuple[str, str], int], side: int) -> dict[str, int]:
    found: dict[str, int] = {}
    for pair, number in counts.items():
        found[pair[side]] = found.get(pair[side], 0) + number
    return found


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


def _lowered(ends: Sequence[End], by: float) -> list[End]:
    return [
        End(
            end.label,
            end.number,
            end.share,
            round(end.top + by, 2),
            round(end.height, 2),
            end.heading,
            round(end.heading_at + by, 2),
            end.colour,
        )
        for end in ends
    ]


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
            found.append(Band(_path(begins, free[target.label], thick), source.colour, words))
            begins += thick
            free[target.label] += thick
    return found


def _path(begins: float, ends: float, thick: float) -> str:
    """Return a band from the height it begins at to the one it ends at."""
    top = f"M0,{begins:.2f} C50,{begins:.2f} 50,{ends:.2f} 100,{ends:.2f}"
    back = f"V{ends + thick:.2f} C50,{ends + thick:.2f} 50,{begins + thick:.2f}"
    return f"{top} {back} 0,{begins + thick:.2f} Z"
