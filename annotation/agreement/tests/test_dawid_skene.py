"""Dawid and Skene's model against its golden posteriors, and annotators of known accuracy."""

import random

import numpy
import pytest

from annotation.agreement.dawid_skene import accuracies, accuracy_intervals, dawid_skene
from annotation.agreement.tests.golden import tables
from annotation.agreement.tests.simulating import ACCURACIES, all_vote, truths
from annotation.agreement.votes import votes_of

pytestmark = pytest.mark.pure
FOR_ALL_ROUNDS = -1


def test_posteriors_and_priors_equal_the_golden_ones_after_each_number_of_rounds() -> None:
    n_compared = 0
    for votes, expected in tables():
        for rounds, golden in expected["dawid_skene_crowdkit"]["by_iterations"].items():
            found = dawid_skene(votes, int(rounds), FOR_ALL_ROUNDS)
            wanted = {item: row for item, *row in golden["posteriors"]}
            for item, row in zip(votes.items, found.posteriors, strict=True):
                assert row == pytest.approx(wanted[item], rel=1e-6, abs=1e-7)
            assert found.priors == pytest.approx(golden["priors"], rel=1e-6, abs=1e-7)
            n_compared += 1
    assert n_compared > 30


def test_it_finds_the_truth_where_a_vote_by_heads_does_not() -> None:
    rng = random.Random(3)
    true = truths(400, 3, rng)
    votes = votes_of(all_vote(true, 3, rng), range(3))

    found = dawid_skene(votes)

    by_heads = votes.counts().argmax(axis=1)
    assert (found.labels() == true).sum() > (by_heads == true).sum()


def test_the_errors_of_an_annotator_sum_to_one_whatever_is_true() -> None:
    rng = random.Random(3)
    found = dawid_skene(votes_of(all_vote(truths(60, 3, rng), 3, rng), range(3)))

    assert numpy.allclose(found.errors.sum(axis=2), 1)


def test_simulated_annotators_accuracies_lie_in_their_intervals() -> None:
    is_in = [0] * len(ACCURACIES)
    for seed in range(100):
        rng = random.Random(seed)
        true = truths(200, 3, rng)
        votes = votes_of(all_vote(true, 3, rng), range(3))
        found = dawid_skene(votes)
        intervals = accuracy_intervals(votes, found, seed, resamples=60)
        for place, (low, high) in enumerate(intervals):
            is_in[place] += low <= ACCURACIES[place] <= high
            assert low < accuracies(votes, found)[place] < high

    assert min(is_in) >= 90, is_in


def test_an_annotator_who_is_never_wrong_has_an_interval_below_one_all_the_same() -> None:
    votes = votes_of((item, who, item % 2) for item in range(30) for who in ("ada", "grace"))
    found = dawid_skene(votes)

    (low, high), _ = accuracy_intervals(votes, found, seed=1)

    assert accuracies(votes, found) == pytest.approx([1, 1])
    assert 0.8 < low < 0.95
    assert high == pytest.approx(1)
