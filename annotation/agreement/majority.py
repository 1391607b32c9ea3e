"""Groups of annotators who say the same, and the largest of them."""

from collections.abc import Callable, Sequence
from typing import TypeVar

Vote = TypeVar("Vote")


def agreeing_groups(
    votes: Sequence[Vote], agree: Callable[[Vote, Vote], bool]
) -> list[tuple[int, ...]]:
    """Return the indices of `votes` in groups that agree, each group in submission order.

    A vote joins the first group with all of whose members it agrees; for an equivalence relation
    these are its classes.
    """
    groups: list[list[int]] = []
    for index, vote in enumerate(votes):
        for group in groups:
            if all(agree(votes[member], vote) for member in group):
                group.append(index)
                break
        else:
            groups.append([index])
    return [tuple(group) for group in groups]


def largest_group(groups: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """Return the largest group, of equally large ones the one that began first; () for none."""
    return max(groups, key=len, default=())
