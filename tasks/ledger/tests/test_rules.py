"""Who earns what, reckoned without any row."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector.protocols.parameters import BonusesTable
from tasks.ledger.performance_bonuses import (
    Stretch,
    as_stretches,
    pace,
    pace_cents,
    ranking,
    rounds_ended,
    worst_cents,
)

pytestmark = pytest.mark.pure
TABLE = BonusesTable.model_validate(
    {
        "top_every_examples": 10,
        "top_cents": [300, 100],
        "block_examples": 4,
        "paces": [
            {"examples_per_hour": 10, "cents": 20},
            {"examples_per_hour": 20, "cents": 50},
        ],
    }
)
counts = st.lists(
    st.tuples(st.sampled_from(["Ada", "Grace", "Mallory"]), st.integers(0, 6), st.just(60.0)),
    max_size=60,
)


def test_of_equals_the_first_to_get_there_is_before() -> None:
    stretches = as_stretches([("Ada", 2, 1), ("Grace", 5, 1), ("Ada", 3, 1), ("Mallory", 1, 1)])
    assert ranking(stretches) == [("Grace", 5), ("Ada", 5), ("Mallory", 1)]


def test_a_stretch_across_a_border_counts_on_both_sides_of_it() -> None:
    stretch = Stretch("Ada", 8, 5, 100.0)
    assert stretch.within(0, 10) == Stretch("Ada", 8, 2, 40.0)
    assert stretch.within(10, 20) == Stretch("Ada", 10, 3, 60.0)


def test_the_best_pace_that_is_reached_is_paid() -> None:
    assert pace([Stretch("Ada", 0, 4, 900.0)]) == 16
    assert [pace_cents(per_hour, TABLE) for per_hour in (9.9, 10, 16, 25)] == [0, 20, 20, 50]
    assert pace([]) == 0


@given(counts)
def test_every_round_is_full_and_every_example_in_one(
    written: list[tuple[str, int, float]],
) -> None:
    stretches = as_stretches(written)
    total = sum(one.examples for one in stretches)
    for number in range(total // 10):
        inside = [one.within(10 * number, 10 * number + 10) for one in stretches]
        assert sum(one.examples for one in inside) == 10
        assert sum(count for _, count in ranking(inside)) == 10
    ended = [n for one in stretches for n in rounds_ended(one.start, one.examples, 10)]
    assert ended == list(range(total // 10))


@given(counts, st.integers(0, 30))
def test_no_more_becomes_due_than_was_said_to_be_the_worst(
    written: list[tuple[str, int, float]], known: int
) -> None:
    stretches = as_stretches(written)
    total = sum(one.examples for one in stretches)
    own: dict[str, int] = {}
    start = blocks_before = due = 0
    for one in stretches:
        ended = len(rounds_ended(own.get(one.worker, 0), one.examples, 4))
        own[one.worker] = own.get(one.worker, 0) + one.examples
        if one.start + one.examples <= known:
            start, blocks_before = one.start + one.examples, blocks_before + ended
        else:
            due += 50 * ended + 400 * len(rounds_ended(one.start, one.examples, 10))
    assert due <= worst_cents(start, blocks_before, total - start, TABLE, lambda cents: cents)
