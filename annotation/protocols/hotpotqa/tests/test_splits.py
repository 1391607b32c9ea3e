"""The split of an example follows its writer and its difficulty, and nothing else."""

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.protocols.hotpotqa.splits import EASY, HARD, MEDIUM, assign
from collector.protocols.loading import get_protocol
from collector.seeds.candidate import SPLITS

pytestmark = pytest.mark.pure
PARAMETERS = get_protocol("hotpotqa").parameters()
WORKERS = ("ada", "grace", "mallory", None)


def make_example(number, worker=None, single_hop=None, correct=False, loss=1.0):
    return {
        "key": f"q{number:05}",
        "worker": worker,
        "single_hop": single_hop,
        "correct": correct,
        "loss": loss,
    }


@st.composite
def judged(draw):
    """Draw examples of a few workers, some of them decided to write single-hop questions."""
    easy = draw(st.sets(st.sampled_from(WORKERS[:3])))
    return [
        make_example(number, worker, worker in easy if worker else None, correct, loss)
        for number, (worker, correct, loss) in enumerate(
            draw(
                st.lists(
                    st.tuples(st.sampled_from(WORKERS), st.booleans(), st.floats(0, 9)),
                    max_size=60,
                )
            )
        )
    ]


def placed(examples, seed=1):
    return [
        (example, split, reason)
        for example, split, reason in assign(examples, PARAMETERS, random.Random(seed))
    ]


@given(judged(), st.integers())
def test_every_example_is_in_one_split_with_a_reason(examples, seed):
    found = placed(examples, seed)
    assert sorted(example["key"] for example, _, _ in found) == [e["key"] for e in examples]
    assert {split for _, split, _ in found} <= {EASY, MEDIUM, *HARD}
    assert all(0 < len(reason) <= 300 for _, _, reason in found)


@given(judged())
def test_easy_are_all_questions_of_single_hop_workers_and_no_others(examples):
    for example, split, _ in placed(examples):
        assert (split == EASY) == bool(example["single_hop"])


@given(judged())
def test_medium_is_right_and_its_loss_below_that_of_right_hard_ones(examples):
    found = placed(examples)
    medium = [example for example, split, _ in found if split == MEDIUM]
    hard = [example for example, split, _ in found if split in HARD]
    right = [example for example in (*medium, *hard) if example["correct"]]
    assert all(example["correct"] for example in medium)
    assert len(medium) == min(round(0.6 * (len(medium) + len(hard))), len(right))
    limit = max((example["loss"] for example in medium), default=0)
    assert all(example["loss"] >= limit for example in hard if example["correct"])


@given(judged())
def test_hard_parts_are_within_one_of_their_weights(examples):
    sizes = Counter(split for _, split, _ in placed(examples))
    n_hard = sum(sizes[split] for split in HARD)
    for split, weight in zip(HARD, (15661, 7405, 7405, 7405), strict=True):
        assert abs(sizes[split] - n_hard * weight / 37876) < 1


@given(judged(), st.integers(), st.randoms())
def test_the_order_of_the_examples_does_not_matter(examples, seed, shuffling):
    again = list(examples)
    shuffling.shuffle(again)
    assert placed(examples, seed) == placed(again, seed)


def test_a_fifth_right_makes_a_fifth_medium_though_the_target_is_more():
    examples = [
        make_example(number, "ada", False, number % 5 == 0, 0.01 * number) for number in range(1000)
    ]
    found = placed(examples)
    sizes = Counter(split for _, split, _ in found)
    assert sizes[MEDIUM] == 200
    assert all(example["correct"] for example, split, _ in found if split == MEDIUM)
    assert [sizes[split] for split in HARD] == [331, 157, 156, 156]


def test_the_paper_s_numbers_come_out_of_the_paper_s_weights():
    examples = [make_example(number) for number in range(37876)]
    sizes = Counter(split for _, split, _ in placed(examples))
    assert [sizes[split] for split in HARD] == [15661, 7405, 7405, 7405]


def test_one_example_less_moves_few_of_the_others():
    examples = [make_example(number) for number in range(400)]
    before = {example["key"]: split for example, split, _ in placed(examples)}
    after = {example["key"]: split for example, split, _ in placed(examples[1:])}
    assert sum(before[key] != split for key, split in after.items()) <= len(HARD) - 1


def test_what_was_not_judged_is_refused_by_name():
    with pytest.raises(ValueError, match="q00007 is not judged"):
        placed([make_example(7, correct=None, loss=None)])


def test_no_fold_is_planned_with_a_pair():
    splits = get_protocol("hotpotqa").part(SPLITS)
    seeds = [{"key": "a", "stage": "question"}]
    assert splits.plan(seeds, PARAMETERS, random.Random(1), planned={}, fold_of_text={}) == {}


@given(judged(), st.sets(st.integers(0, 59)))
def test_what_was_in_the_open_tests_nobody(examples, published):
    for example in examples:
        example["published"] = int(example["key"][1:]) in published
    for example, split, _ in assign(examples, PARAMETERS, random.Random(1)):
        assert not (example["published"] and split.startswith("test-"))
        assert not (example["published"] and split == "dev")
