"""Folds are exact, stay once planned, and never part equal texts."""

import random
from collections import Counter
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.protocols.folds import plan
from collector.seeds.candidate import as_planned, text_key


def weights(train: float, dev: float, test: float) -> Any:
    """Return weights of the three folds."""
    return SimpleNamespace(train=train, dev=dev, test=test)


WEIGHTS = weights(80, 10, 10)


def seeds(n: int, start: int = 0) -> list[dict[str, str]]:
    """Return seeds with distinct texts."""
    return [{"key": f"s{i}", "text": f"Passage {i}."} for i in range(start, start + n)]


def folds_of(n: int) -> dict[str, int]:
    """Return the sizes that largest remainders give 80 : 10 : 10, ties in fold order."""
    exact = {"train": 8 * n, "dev": n, "test": n}
    sizes = {fold: tenths // 10 for fold, tenths in exact.items()}
    by_remainder = sorted(exact, key=lambda fold: -(exact[fold] % 10))
    for fold in by_remainder[: n - sum(sizes.values())]:
        sizes[fold] += 1
    return sizes


@given(st.integers(0, 300), st.integers(0, 99))
def test_the_sizes_are_those_of_largest_remainders(n: int, number: int) -> None:
    planned = Counter(plan(seeds(n), WEIGHTS, random.Random(number)).values())
    assert planned == Counter(folds_of(n))


@given(st.lists(st.integers(0, 40), max_size=8))
def test_later_seeds_bring_the_whole_back_to_the_weights(batches: list[int]) -> None:
    folds: dict[Any, str] = {}
    rng = random.Random(7)
    for n in batches:
        later = plan(seeds(n, len(folds)), WEIGHTS, rng, Counter(folds.values()))
        assert not later.keys() & folds.keys()
        folds |= later
        for fold, size in folds_of(len(folds)).items():
            assert abs(Counter(folds.values())[fold] - size) <= 1
    assert len(folds) == sum(batches)


@given(st.lists(st.integers(0, 12), max_size=60), st.integers(0, 99))
def test_equal_texts_share_a_fold(texts: list[int], number: int) -> None:
    listed = [
        SimpleNamespace(key=index, text=f"Passage {text}." + "\n" * (index % 2))
        for index, text in enumerate(texts)
    ]
    planned = plan(listed, WEIGHTS, random.Random(number))
    assert planned.keys() == set(range(len(texts)))
    assert len({(seed.text.strip(), planned[seed.key]) for seed in listed}) == len(set(texts))


def test_a_text_seen_before_keeps_its_fold() -> None:
    earlier = {text_key("Passage 1."): "test", text_key("Passage 2."): "dev"}
    planned = plan(seeds(3, start=1), WEIGHTS, random.Random(1), {"test": 1, "dev": 1}, earlier)
    assert planned == {"s1": "test", "s2": "dev", "s3": "train"}


def test_the_same_seed_gives_the_same_folds_and_another_seed_others() -> None:
    one, same, other = (plan(seeds(200), WEIGHTS, random.Random(n)) for n in (1, 1, 2))
    assert one == same != other


def test_every_place_in_the_order_can_have_every_fold() -> None:
    first = Counter(plan(seeds(10), WEIGHTS, random.Random(n))["s0"] for n in range(300))
    assert set(first) == {"train", "dev", "test"}
    assert first["train"] > 200


def test_decimal_weights_and_an_empty_fold_are_fine() -> None:
    sizes = Counter(plan(seeds(10), weights(0.7, 0.3, 0), random.Random(1)).values())
    assert sizes == {"train": 7, "dev": 3}


@pytest.mark.parametrize("wrong", [(0, 0, 0), (90, -10, 20)])
def test_it_refuses_weights_that_mean_nothing(wrong: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match="must not be negative nor all 0"):
        plan(seeds(1), weights(*wrong), random.Random(1))


def test_assigning_confirms_the_plan() -> None:
    examples = [{"qid": "q_1", "fold": "dev"}, {"qid": "q_2", "fold": "train"}]
    assert list(as_planned(examples, None, random.Random(1))) == [
        (examples[0], "dev", "planned_with_the_seed"),
        (examples[1], "train", "planned_with_the_seed"),
    ]


def test_it_refuses_an_example_without_a_plan() -> None:
    with pytest.raises(ValueError, match="plan its seed before collecting"):
        list(as_planned([{"fold": ""}], None, random.Random(1)))
