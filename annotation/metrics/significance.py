"""Whether one system is better than another by more than which questions happened to be asked."""

from collections.abc import Callable
from typing import Any

# Subsets at a time: of ten thousand questions they take a few megabytes.
CHUNK = 100


def paired_bootstrap(
    one: Any,
    other: Any,
    value: Callable[[Any], Any],
    seed: int,
    *,
    subsets: int,
    size: int,
) -> list[float]:
    """Return for each measure the share of subsets in which `one` is not better than `other`.

    one, other: float[n_questions, n_parts], what the measures are computed from, of the same
    questions; value: from their sums over a subset, float[…, n_parts], to the measures,
    float[…, n_measures]. Subsets are drawn with replacement, as large as the whole where it is
    smaller than `size`: larger ones would tell more than there is. The shares are one-sided p
    values (Book QA 5.1).
    """
    import numpy

    rng = numpy.random.default_rng(seed)
    n_questions = len(one)
    size = min(size, n_questions)
    n_not_better: Any = 0
    for begin in range(0, subsets, CHUNK):
        drawn = rng.integers(0, n_questions, (min(CHUNK, subsets - begin), size))
        weights = numpy.stack([numpy.bincount(row, minlength=n_questions) for row in drawn])
        n_not_better += (value(weights @ one) <= value(weights @ other)).sum(axis=0)
    return [float(each) for each in n_not_better / subsets]
