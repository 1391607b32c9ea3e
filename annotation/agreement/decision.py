"""What votes decide of one item, and why; and the largest group of them that agrees."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

Vote = TypeVar("Vote")


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


def largest_group(votes: Sequence[Vote], agree: Callable[[Vote, Vote], bool]) -> tuple[int, ...]:
    """Return the indices of the most `votes` that all agree with one another, in order; () of none.

    Of equally large groups it is the one that began first. agree: symmetric, but it need not be
    an equivalence: A may agree with B and B with C while A and C differ, so that groups overlap.
    """
    near: list[set[int]] = [set() for _ in votes]
    for index, vote in enumerate(votes):
        for before in range(index):
            if agree(votes[before], vote):
                near[before].add(index)
                near[index].add(before)
    return min(_groups(near, (), set(range(len(votes))), set()), key=lambda one: (-len(one), one))


def _groups(
    near: Sequence[set[int]], group: tuple[int, ...], more: set[int], tried: set[int]
) -> Iterator[tuple[int, ...]]:
    """Yield each group that nothing can join, by the algorithm of Bron and Kerbosch with a pivot.

    near: who agrees with whom. more: what can join `group`. tried: what could, but was tried first.
    """
    if not more:
        # Where something tried fits too, this is a part of a group that was found with it.
        yield tuple(sorted(group))
        return
    pivot = max(more | tried, key=lambda index: len(near[index] & more))
    for index in sorted(more - near[pivot]):
        yield from _groups(near, (*group, index), more & near[index], tried & near[index])
        more, tried = more - {index}, tried | {index}
