"""Agreement against published and golden values, and what must hold of every table of votes."""

import random
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.agreement.kappa import (
    COEFFICIENTS,
    Coefficient,
    fleiss_kappa,
    gwet_ac1,
    krippendorff,
    krippendorff_alpha,
    ordinal,
    simple_agreement,
)
from annotation.agreement.tests.golden import is_number, tables
from annotation.agreement.tests.simulating import all_vote, truths, two_vote
from annotation.agreement.votes import Votes, votes_of

pytestmark = pytest.mark.pure

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
counts = st.lists(
    st.lists(st.integers(0, 4), min_size=3, max_size=3), min_size=2, max_size=20
).filter(lambda table: any(sum(row) > 1 for row in table))
every = pytest.mark.parametrize("coefficient", COEFFICIENTS, ids=lambda each: each.name)


def golden_cases() -> Iterator[tuple[Coefficient, Votes, object]]:
    for votes, expected in tables():
        alpha = expected["krippendorff_alpha"]
        yield fleiss_kappa, votes, expected["fleiss_irrCAC_all_rows"]["kappa"]
        yield simple_agreement, votes, expected["fleiss_irrCAC_all_rows"]["pa"]
        yield gwet_ac1, votes, expected["gwet_ac1_irrCAC"]["ac1"]
        yield krippendorff_alpha, votes, alpha["nominal"]
        yield krippendorff(ordinal), votes, alpha["ordinal"]
        if expected["complete_rows"] == len(votes.items):
            yield fleiss_kappa, votes, expected["fleiss_kappa_statsmodels_complete_rows"]


def test_every_coefficient_equals_what_the_packages_give() -> None:
    n_compared = 0
    for coefficient, votes, expected in golden_cases():
        if coefficient is fleiss_kappa and len(votes.labels) == 1:
            # irrCAC says 1: that all agree by chance alone.
            assert coefficient.or_none(votes.counts()) is None
        elif is_number(expected):
            assert coefficient(votes.counts()) == pytest.approx(expected, rel=1e-9, abs=1e-9)
            n_compared += 1
    assert n_compared > 60


def test_fleiss_equals_the_published_example() -> None:
    assert fleiss_kappa(PUBLISHED) == pytest.approx(0.2099, abs=5e-5)


@given(labels, st.integers(2, 9))
def test_unanimity_is_one(listed: list[str], n_annotators: int) -> None:
    table = [[n_annotators * (own == each) for each in "abc"] for own in listed]
    for coefficient in (simple_agreement, gwet_ac1):
        assert coefficient(table) == 1.0
    if len(set(listed)) > 1:
        assert fleiss_kappa(table) == 1.0
        assert krippendorff_alpha(table) == pytest.approx(1.0)


@given(counts)
def test_it_is_never_above_one(table: list[list[int]]) -> None:
    for coefficient in COEFFICIENTS:
        assert _or_none(coefficient, table) in (None, pytest.approx(-1.0, abs=2.0 + 1e-9))


@given(counts, st.randoms(use_true_random=False), st.permutations(range(3)))
def test_neither_the_order_of_items_nor_of_labels_matters(
    table: list[list[int]], rng: random.Random, order: list[int]
) -> None:
    other = [[row[place] for place in order] for row in table]
    rng.shuffle(other)
    for coefficient in COEFFICIENTS:
        assert _or_none(coefficient, other) == pytest.approx(_or_none(coefficient, table))


@given(counts)
def test_a_label_that_nobody_gave_changes_nothing(table: list[list[int]]) -> None:
    for coefficient in COEFFICIENTS:
        wider = [[*row, 0] for row in table]
        assert _or_none(coefficient, wider) == pytest.approx(_or_none(coefficient, table))


def test_votes_of_any_number_count_and_those_alone_agree_with_nobody() -> None:
    assert fleiss_kappa([[2, 0], [0, 3], [1, 0]]) == 1.0
    assert simple_agreement([[2, 0], [1, 1], [0, 1]]) == 0.5


@every
@pytest.mark.parametrize("table", [[], [[1, 0]], [[1, 0], [0, 1]], [[0, 0]]])
def test_a_table_without_two_votes_on_an_item_is_refused(
    coefficient: Coefficient, table: list[list[int]]
) -> None:
    with pytest.raises(ValueError, match="needs a table of items by labels with two votes"):
        coefficient(table)


@pytest.mark.parametrize("coefficient", [fleiss_kappa, krippendorff_alpha])
def test_what_is_corrected_for_chance_is_refused_for_one_label_alone(
    coefficient: Coefficient,
) -> None:
    with pytest.raises(ValueError, match="is not defined where every vote is the same label"):
        coefficient([[2, 0], [3, 0]])
    assert coefficient.or_none([[2, 0], [3, 0]]) is None


@every
def test_an_interval_holds_its_value_and_is_the_same_for_the_same_seed(
    coefficient: Coefficient,
) -> None:
    low, high = coefficient.interval(PUBLISHED, seed=4)

    assert low < coefficient(PUBLISHED) < high
    assert (low, high) == coefficient.interval(PUBLISHED, seed=4)
    assert (low, high) != coefficient.interval(PUBLISHED, seed=5)


@every
def test_an_interval_holds_what_a_hundred_times_the_items_give(coefficient: Coefficient) -> None:
    rng = random.Random(8)
    many = votes_of(two_vote(truths(20_000, 4, rng), 4, rng)).counts()
    is_in = 0
    for seed in range(100):
        rng = random.Random(seed)
        few = votes_of(two_vote(truths(200, 4, rng), 4, rng)).counts()
        low, high = coefficient.interval(few, seed, resamples=400)
        is_in += low <= coefficient(many) <= high

    assert is_in >= 90


def test_the_same_annotator_has_one_vote_on_an_item() -> None:
    with pytest.raises(ValueError, match="ada has two votes on item 1: give one"):
        votes_of([("item 1", "ada", "x"), ("item 1", "ada", "y")])


def test_items_that_one_annotator_alone_has_can_be_left_out() -> None:
    rng = random.Random(1)
    votes = votes_of([*all_vote(truths(3, 4, rng), 4, rng), (9, 0, 1)])

    assert votes.items == (0, 1, 2, 9)
    assert votes.several().items == (0, 1, 2)


def _or_none(coefficient: Coefficient, table: list[list[int]]) -> float | None:
    try:
        return coefficient(table)
    except ValueError:
        return None
