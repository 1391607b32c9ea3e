"""Kappas against published examples, and their value on unanimity."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.agreement.kappa import cohens_kappa, fleiss_kappa

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


def test_cohen_equals_the_published_example() -> None:
    first = ["yes"] * 25 + ["no"] * 25
    second = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15
    assert cohens_kappa(first, second) == pytest.approx(0.4)


@given(labels, st.integers(2, 9))
def test_unanimity_is_one(listed: list[str], n_annotators: int) -> None:
    assert cohens_kappa(listed, listed) == 1.0
    assert fleiss_kappa([[n_annotators * (own == each) for each in "abc"] for own in listed]) == 1.0


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=1))
def test_no_kappa_is_above_one(pairs: list[tuple[str, str]]) -> None:
    first, second = zip(*pairs, strict=True)
    assert cohens_kappa(first, second) <= 1.0
    assert fleiss_kappa([[pair.count(each) for each in "abc"] for pair in pairs]) <= 1.0


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=1))
def test_who_is_called_the_first_annotator_is_nothing(pairs: list[tuple[str, str]]) -> None:
    first, second = zip(*pairs, strict=True)
    assert cohens_kappa(first, second) == pytest.approx(cohens_kappa(second, first))


def test_cohen_refuses_unequal_numbers_of_labels() -> None:
    with pytest.raises(ValueError, match="2 and 1 labels"):
        cohens_kappa(["a", "b"], ["a"])


@pytest.mark.parametrize("counts", [[], [[1, 0]], [[2, 0], [1, 0]]])
def test_fleiss_refuses_what_is_no_table_of_equal_rows(counts: list[list[int]]) -> None:
    with pytest.raises(ValueError, match="Fleiss' kappa needs"):
        fleiss_kappa(counts)
