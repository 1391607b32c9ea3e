"""Bars of parts of a whole, drawn as SVG by a template without any style of its own."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Segment:
    """One part: `x` and `width` are per cent of the bar, `name` its class and its legend."""

    name: str
    x: float
    width: float


def segments(parts: Iterable[tuple[str, int]], whole: int) -> list[Segment]:
    """Return the parts side by side, within 0 and 100 per cent; empty parts are left out."""
    whole = max(whole, 1)
    found, x = [], 0.0
    for name, amount in parts:
        width = min(max(amount, 0) * 100 / whole, 100 - x)
        if width > 0:
            found.append(Segment(name, round(x, 2), round(width, 2)))
            x += width
    return found
