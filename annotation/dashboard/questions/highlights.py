"""Cuts a text into pieces with the marks that lie on each, and quotes a mark with its surroundings.

Offsets are code points, half-open.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

AROUND = 90


@dataclass(frozen=True)
class Piece:
    """Consecutive text under the same marks; `ends` are the marks that end with it.

    A mark is link, evidence, answer, or the number of the question whose evidence it is.
    """

    text: str
    marks: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()

    @property
    def is_marked(self) -> bool:
        """Return whether more than a link lies on it."""
        return any(mark != "link" for mark in self.marks)

    @property
    def classes(self) -> str:
        """Return the marks as CSS classes."""
        names = ("evidence" if mark.isdigit() else mark for mark in self.marks)
        return " ".join(f"mark-{name}" for name in dict.fromkeys(names))

    @property
    def numbers(self) -> list[str]:
        """Return the numbers of the questions whose evidence ends here."""
        return [mark for mark in self.ends if mark.isdigit()]


@dataclass(frozen=True)
class Quote:
    """Words of a document with what stands around them, cut at spaces."""

    document: str
    before: str
    words: str
    after: str


def pieces(text: str, spans: Iterable[tuple[int, int, str]]) -> list[Piece]:
    """Return the text cut at the ends of `spans` (start, end, mark); joined it is the text again.

    Spans may overlap; what lies outside the text is left out.
    """
    kept = [(max(0, start), min(len(text), end), mark) for start, end, mark in spans]
    kept = [span for span in kept if span[0] < span[1]]
    cuts = sorted({0, len(text)} | {edge for start, end, _ in kept for edge in (start, end)})
    return [
        Piece(
            text[start:end],
            tuple(dict.fromkeys(mark for s, e, mark in kept if s <= start and end <= e)),
            tuple(dict.fromkeys(mark for _, e, mark in kept if e == end)),
        )
        for start, end in pairwise(cuts)
    ]


def quote(document: str, text: str, start: int, end: int, around: int = AROUND) -> Quote:
    """Return text[start:end] with up to `around` characters on either side."""
    before = text[max(0, start - around) : start]
    if start > around:
        before = "… " + before.partition(" ")[2]
    after = text[end : end + around]
    if end + around < len(text):
        after = after.rpartition(" ")[0] + " …"
    return Quote(document, before, text[start:end], after)
