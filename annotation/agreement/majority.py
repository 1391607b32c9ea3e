"""Groups of annotators who say the same, and the largest of them."""

from collections.abc import Callable, Sequence
from typing import TypeVar

Vote = TypeVar("Vote")


def agreeing_groups(
    votes: Sequence[Vote], agree: Callable[[Vote, Vote], bool]
) -> list[tuple[int, ...]]:
    """Return the indices of `votes` in groups that agree, each group in submission order.

    A vote joins the first group whose first member it agrees with, so that `agree` is asked of
    as few pairs as possible; for an equivalence relation these are its classes.
    """
    groups: list[list[int]] = []
    for index, vote in enumerate(votes):
        for group in groups:
            if agree(votes[group[0]], vote):
                group.append(index)
                break
        else:
            groups.append([index])
    return [tuple(group) for group in groups]


def largest_group(groups: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """Return the largest group, of equally large ones the one that began first; () for none."""
    return max(groups, key=len, default=())


def pairwise_agreement(votes: Sequence[Vote], agree: Callable[[Vote, Vote], bool]) -> float:
    """Return the share of pairs of votes that agree, 0..1; raises ValueError below two votes."""
    n = len(votes)
    if n < 2:
        raise ValueError(f"Agreement needs two votes or more, not {n}.")
    n_agreeing = sum(
        agree(votes[first], votes[second]) for first in range(n) for second in range(first + 1, n)
    )
    return n_agreeing / (n * (n - 1) / 2)
