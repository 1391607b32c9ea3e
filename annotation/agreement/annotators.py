"""Annotators who say the same, the largest group of them, and how far it is beyond chance."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

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


def fleiss_kappa(counts: Sequence[Sequence[int]] | Any) -> float:
    """Return Fleiss' kappa of `counts`, int[n_items, n_labels]: annotators per item and label.

    Every item must have the same number of annotators, two at least; 1.0 on unanimity. Takes a
    numpy array without copying it. Raises ValueError for other tables (Fleiss 1971).
    """
    import numpy

    table = numpy.asarray(counts)
    if table.ndim != 2 or not table.size:
        raise ValueError("Fleiss' kappa needs a table of items by labels with counts in it.")
    per_item = table.sum(axis=1)
    n_annotators = int(per_item[0])
    if n_annotators < 2 or (per_item != n_annotators).any():
        raise ValueError(
            "Fleiss' kappa needs the same number of annotators, two or more, per item."
        )
    n_items = len(table)
    n_pairs = n_items * n_annotators * (n_annotators - 1)
    observed = int((table * (table - 1)).sum()) / n_pairs
    shares = table.sum(axis=0) / (n_items * n_annotators)
    return _corrected(observed, float((shares * shares).sum()))


def _corrected(observed: float, expected: float) -> float:
    """Return (observed - expected) / (1 - expected), 1.0 where nothing is left to chance."""
    if observed == 1.0:
        return 1.0
    return (observed - expected) / (1 - expected)
