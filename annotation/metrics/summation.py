"""Sums, means and rounding in the order of the official scripts, equal to the last bit."""

from collections.abc import Iterable, Sequence
from functools import reduce
from operator import add

LANES = 8
BLOCK = 128


def plain_sum(values: Iterable[float]) -> float:
    """Return the sum from left to right.

    The built-in `sum` compensates its rounding errors from Python 3.12 on; the official
    figures were made without.
    """
    return reduce(add, values, 0.0)


def pairwise_sum(values: Sequence[float]) -> float:
    """Return the sum in numpy's order: eight lanes within a block, halves of blocks above it."""
    n = len(values)
    if n < LANES:
        return plain_sum(values)
    if n > BLOCK:
        half = n // 2 - (n // 2) % LANES
        return pairwise_sum(values[:half]) + pairwise_sum(values[half:])
    whole = n - n % LANES
    a, b, c, d, e, f, g, h = (reduce(add, values[lane:whole:LANES]) for lane in range(LANES))
    return reduce(add, values[whole:], ((a + b) + (c + d)) + ((e + f) + (g + h)))


def numpy_mean(values: Sequence[float]) -> float:
    """Return what `numpy.mean(values)` returns, without importing numpy.

    Raises ValueError for an empty sequence, where numpy warns and gives NaN.
    """
    if not values:
        raise ValueError("There is no mean of nothing: score at least one question.")
    return pairwise_sum(values) / len(values)


def numpy_round(value: float) -> float:
    """Return what `round(value, 2)` returns for a numpy float.

    numpy scales, rounds half to even and scales back: 0.615 gives 0.62, where Python's own
    rounding of the binary value gives 0.61.
    """
    return round(value * 100) / 100
