"""Chance-corrected agreement: Fleiss' kappa, for any number of annotators."""

from collections.abc import Sequence
from typing import Any


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
