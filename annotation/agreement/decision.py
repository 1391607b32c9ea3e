"""The decision that votes make about one item, its reason, and the largest agreeing group."""

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
    """The decision of the votes on one item; a row of `Verdict` stores it.

    reason: a stable code for programs. sentence: the reason in words, for a requester.
    chosen: index of the released vote in submission order, None unless kept.
    agreeing: indices of the votes that agree with the released one, itself included.
    """

    outcome: Outcome
    reason: str
    sentence: str
    chosen: int | None = None
    agreeing: tuple[int, ...] = ()


def largest_group(votes: Sequence[Vote], agree: Callable[[Vote, Vote], bool]) -> tuple[int, ...]:
    """Return the indices of the largest group of `votes` that all agree, sorted; () without votes.

    Of groups of equal size it is the one whose sorted indices are smallest in lexicographic order.
    agree: symmetric, but not always transitive. A may agree with B and B with C while A and C
    differ, so groups can overlap.
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
    """Yield each group that no vote can join, by the algorithm of Bron and Kerbosch with a pivot.

    near: for each vote, the votes that agree with it. more: votes that can still join `group`.
    tried: votes that could join too, but whose groups were yielded before.
    """
    if not more:
        # If `tried` is not empty, a larger group with this one inside was yielded before, and wins.
        yield tuple(sorted(group))
        return
    pivot = max(more | tried, key=lambda index: len(near[index] & more))
    for index in sorted(more - near[pivot]):
        yield from _groups(near, (*group, index), more & near[index], tried & near[index])
        more, tried = more - {index}, tried | {index}
