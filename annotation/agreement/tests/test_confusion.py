"""What two annotators confuse, and how often one is right by what was decided."""

import random

import pytest

from annotation.agreement.confusion import accuracies_against, pair_confusions
from annotation.agreement.tests.golden import is_number, tables
from annotation.agreement.tests.simulating import ACCURACIES, truths, two_vote
from annotation.agreement.votes import votes_of

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


def test_simulated_annotators_accuracies_lie_in_their_intervals_by_what_was_decided() -> None:
    """A hundred and fifty items by two of five annotators, nine labels, and a judge who knows."""
    is_in = [0] * len(ACCURACIES)
    for seed in range(100):
        rng = random.Random(seed)
        true = truths(150, 9, rng)
        votes = votes_of(two_vote(true, 9, rng))
        decided = {}
        for item, codes in zip(votes.items, votes.codes, strict=True):
            said = {votes.labels[code] for code in codes if code >= 0}
            decided[item] = said.pop() if len(said) == 1 else true[item]
        for annotator, found in accuracies_against(votes, decided).items():
            is_in[annotator] += found.low <= ACCURACIES[annotator] <= found.high

    assert min(is_in) >= 90, is_in


def test_whoever_labelled_nothing_that_is_decided_has_no_accuracy() -> None:
    votes = votes_of([(1, "ada", "x"), (2, "grace", "x")])
    found = accuracies_against(votes, {1: "y"})

    assert set(found) == {"ada"}
    assert (found["ada"].right, found["ada"].of, found["ada"].share) == (0, 1, 0.0)
