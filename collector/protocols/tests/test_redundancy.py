"""A part of a stage's HITs is done by more people: as many as were asked for, drawn by a seed."""

import random
from typing import Any

import pytest
from pydantic import ValidationError

from collector.protocols.loading import ProtocolError, get_protocol
from collector.protocols.parameters import Redundancy

pytestmark = pytest.mark.pure
SOME = Redundancy(train=1, dev=1, test=1, percent=15, people=2)


def drawn(redundancy: Redundancy, number: int, seed: str = "7:label") -> list[int]:
    """Return which of so many HITs are drawn."""
    usual = [redundancy.of_hit(1, each, seed) for each in range(number)]
    assert set(usual) <= {1, redundancy.people}
    return [each for each, people in enumerate(usual) if people > 1]


def test_of_a_hundred_hits_fifteen_are_drawn_and_of_fewer_as_large_a_share() -> None:
    assert len(drawn(SOME, 100)) == 15
    for number in range(200):
        exact = number * 15 / 100
        assert abs(len(drawn(SOME, number)) - exact) < 1


def test_the_seed_draws_them_and_another_seed_draws_others() -> None:
    assert drawn(SOME, 200) == drawn(SOME, 200)
    others = {tuple(drawn(SOME, 200, f"{seed}:label")) for seed in range(20)}
    assert len(others) == 20


def test_every_hit_can_be_drawn() -> None:
    found = {each for seed in range(200) for each in drawn(SOME, 100, str(seed))}
    assert found == set(range(100))


def test_those_that_have_more_people_anyway_keep_them() -> None:
    mixed = Redundancy(train=1, dev=4, test=4, percent=100, people=2)
    assert (mixed.of_hit(1, 0, "7"), mixed.of_hit(4, 0, "7")) == (2, 4)
    assert [mixed.most_of(fold) for fold in ("train", "dev", "")] == [2, 4, 2]


def test_the_places_are_never_more_than_said() -> None:
    rng = random.Random(3)
    for _ in range(200):
        percent, people = rng.randrange(1, 101), rng.randrange(2, 6)
        redundancy = Redundancy(train=1, dev=2, test=3, percent=percent, people=people)
        usual = [rng.randrange(1, 4) for _ in range(rng.randrange(1, 90))]
        said = redundancy.places({each: usual.count(each) for each in set(usual)})
        seed = str(rng.random())
        made = sum(redundancy.of_hit(each, place, seed) for place, each in enumerate(usual))
        assert sum(usual) <= made <= said


def test_without_a_share_all_is_as_it_was() -> None:
    plain = Redundancy(train=1, dev=2, test=3)
    assert [plain.of_hit(plain.of(fold), 0, "7") for fold in ("train", "dev", "test")] == [1, 2, 3]
    assert plain.places({1: 4, 3: 5}) == 19


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({"percent": 15}, "give both percent and people, or neither"),
        ({"people": 2}, "give both percent and people, or neither"),
        ({"percent": 15, "people": 1}, "people must be more than do the other HITs"),
        ({"percent": 101, "people": 2}, "less than or equal to 100"),
    ],
)
def test_half_a_share_is_refused(told: dict[str, int], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Redundancy(train=1, dev=1, test=1, **told)


@pytest.mark.parametrize(
    ("protocol", "stage", "message"),
    [
        ("iirc", "answer_qualification", "everybody is examined alike"),
        ("hotpotqa", "question", "an item has one writer"),
        ("quac", "dialog", "two people talk, never more"),
    ],
)
def test_where_more_people_make_no_sense_a_share_is_refused(
    protocol: str, stage: str, message: str
) -> None:
    share: dict[str, Any] = {f"{stage}.redundancy.percent": 15, f"{stage}.redundancy.people": 29}
    with pytest.raises(ProtocolError, match=message):
        get_protocol(protocol).parameters(share)
