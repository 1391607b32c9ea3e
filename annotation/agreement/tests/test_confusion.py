"""What two annotators confuse."""

import pytest

from annotation.agreement.tests.golden import is_number, tables
from annotation.agreement.votes import pair_confusions, votes_of

pytestmark = pytest.mark.pure


def test_cohens_kappa_of_each_pair_equals_what_the_packages_give() -> None:
    n_compared = 0
    for votes, expected in tables():
        found = {(each.first, each.second): each for each in pair_confusions(votes)}
        for first, second, n_items, kappa, *_ in expected["cohen_kappa_pairs"]["rows"]:
            pair = (first, second) if (first, second) in found else (second, first)
            assert found[pair].n_items == n_items
            if is_number(kappa):
                assert found[pair].cohen_kappa() == pytest.approx(kappa, rel=1e-9, abs=1e-9)
                n_compared += 1
    assert n_compared > 50


def test_rows_are_what_the_first_says_and_columns_what_the_second_says() -> None:
    (found,) = pair_confusions(
        votes_of([(1, "ada", "x"), (1, "grace", "y"), (2, "ada", "x"), (2, "grace", "x")], "xy")
    )

    assert (found.first, found.second) == ("ada", "grace")
    assert found.table.tolist() == [[1, 1], [0, 0]]
    assert (found.n_items, found.n_equal) == (2, 1)


def test_annotators_without_a_common_item_are_no_pair() -> None:
    assert pair_confusions(votes_of([(1, "ada", "x"), (2, "grace", "x")])) == []


def test_cohens_kappa_of_one_label_alone_is_refused() -> None:
    (found,) = pair_confusions(votes_of([(1, "ada", "x"), (1, "grace", "x")]))
    with pytest.raises(ValueError, match="is not defined where every vote is the same label"):
        found.cohen_kappa()
