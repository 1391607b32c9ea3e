"""The kappa against a published example, and its value on unanimity."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.agreement.annotators import fleiss_kappa

# Fourteen annotators, ten items, five labels: the worked example of the textbooks.
PUBLISHED = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
]
labels = st.lists(st.sampled_from("abc"), min_size=1, max_size=30)


def test_fleiss_equals_the_published_example() -> None:
    assert fleiss_kappa(PUBLISHED) == pytest.approx(0.2099, abs=5e-5)


@given(labels, st.integers(2, 9))
def test_unanimity_is_one(listed: list[str], n_annotators: int) -> None:
    assert fleiss_kappa([[n_annotators * (own == each) for each in "abc"] for own in listed]) == 1.0


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=1))
def test_it_is_never_above_one(pairs: list[tuple[str, str]]) -> None:
    assert fleiss_kappa([[pair.count(each) for each in "abc"] for pair in pairs]) <= 1.0


@pytest.mark.parametrize("counts", [[], [[1, 0]], [[2, 0], [1, 0]]])
def test_fleiss_refuses_what_is_no_table_of_equal_rows(counts: list[list[int]]) -> None:
    with pytest.raises(ValueError, match="Fleiss' kappa needs"):
        fleiss_kappa(counts)
