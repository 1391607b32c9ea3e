"""Sums, means and rounding against numpy itself."""

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.metrics.summation import numpy_mean, numpy_round, plain_sum

values = st.lists(st.floats(0, 1), min_size=1, max_size=700)


@given(values)
def test_the_mean_has_numpys_bits(listed: list[float]) -> None:
    assert numpy_mean(listed) == float(numpy.mean(listed))


@pytest.mark.parametrize("n", [1, 7, 8, 9, 128, 129, 136, 255, 256, 257, 1000, 13441])
def test_the_mean_has_numpys_bits_at_the_edges_of_its_blocks(n: int) -> None:
    listed = [((i * 7919) % 101) / 101 for i in range(n)]
    assert numpy_mean(listed) == float(numpy.mean(listed))


@given(st.integers(0, 60), st.integers(1, 60))
def test_it_rounds_as_numpy_does(numerator: int, denominator: int) -> None:
    value = numerator / denominator
    assert numpy_round(value) == float(round(numpy.float64(value), 2))


def test_it_rounds_a_half_as_numpy_and_not_as_python() -> None:
    assert (numpy_round(0.615), round(0.615, 2)) == (0.62, 0.61)


def test_the_plain_sum_is_not_compensated() -> None:
    assert plain_sum([0.1] * 10) == 0.9999999999999999


def test_it_refuses_the_mean_of_nothing() -> None:
    with pytest.raises(ValueError, match="score at least one question"):
        numpy_mean([])
