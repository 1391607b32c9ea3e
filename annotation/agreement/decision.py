"""What a protocol's validation says of one item: kept, dropped or waiting, and why."""

from dataclasses import dataclass
from enum import StrEnum


class Outcome(StrEnum):
    """Whether an item enters the dataset; WAITING while votes are missing."""

    KEPT = "kept"
    DROPPED = "dropped"
    WAITING = "waiting"


@dataclass(frozen=True)
class Decision:
    """What the votes on one item decide; the row `Verdict` keeps it.

    reason: a stable machine word; sentence: the same for a requester to read.
    chosen: index of the released vote in submission order, None unless kept.
    agreeing: indices of the votes that agree with the released one, itself included.
    """

    outcome: Outcome
    reason: str
    sentence: str
    chosen: int | None = None
    agreeing: tuple[int, ...] = ()
