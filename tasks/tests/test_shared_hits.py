"""Where more people do a part of a stage's HITs, every two of them share about as many."""

from collections import Counter
from itertools import combinations

import pytest

from collector.models import Collection, Stage
from collector.protocols.creation import parameters_of
from tasks.costs import estimate
from tasks.models import Lease, LeaseState
from tasks.tests.making import (
    NOW,
    make_collection,
    make_posting,
    make_session,
    make_worker,
    stage_of,
)
from tasks.work import leases
from tasks.work.units import add_unit, create_unit

pytestmark = pytest.mark.django_db
# As many labellers as a paper had, and as many HITs of which they did some twice.
PEOPLE, HITS, TWICE = 5, 100, 15
SHARE = {"train": 1, "dev": 1, "test": 1, "percent": TWICE, "people": 2}
NAME = "answer"


@pytest.fixture
def stage() -> Stage:
    """Return a stage with a hundred HITs, of which fifteen are done by two."""
    made = make_collection(budget_cents=10**7, answer__redundancy=SHARE)
    stage, table = stage_of(made, NAME), parameters_of(made).stages()[NAME]
    for _ in range(HITS):
        add_unit(stage, table, [], 1)
    return stage


def take_turns(stage: Stage) -> dict[str, set[int]]:
    """Let people take one HIT after the other until none is left; return those of each."""
    posting = make_posting(stage)
    people = [make_worker(f"A{number}") for number in range(PEOPLE)]
    found: dict[str, set[int]] = {worker.pk: set() for worker in people}
    waiting = list(people)
    while waiting:
        worker = waiting.pop(0)
        lease = leases.claim(make_session(worker, posting), stage, NOW)
        if lease is not None:
            found[worker.pk].add(lease.unit_id)
            Lease.objects.filter(pk=lease.pk).update(state=LeaseState.SUBMITTED)
            waiting.append(worker)
    return found


def test_fifteen_of_a_hundred_are_for_two(stage: Stage) -> None:
    assert Counter(stage.units.values_list("redundancy", flat=True)) == {1: 85, 2: 15}


def test_every_two_people_share_some_of_them_and_none_share_many(stage: Stage) -> None:
    taken = take_turns(stage)
    shared = [len(taken[one] & taken[other]) for one, other in combinations(taken, 2)]
    assert sum(shared) == TWICE
    # In the order of the HITs alone every second pair would share none.
    assert 1 <= min(shared) <= max(shared) <= 3


def test_what_somebody_has_begun_comes_before_what_would_be_fair(stage: Stage) -> None:
    posting, ada = make_posting(stage), make_worker("AADA")
    begun = leases.claim(make_session(ada, posting), stage, NOW)
    assert begun is not None
    Lease.objects.filter(pk=begun.pk).update(state=LeaseState.EXPIRED, draft={"data": {}})
    stage.units.filter(pk=begun.unit_id).update(taken=0)
    again = leases.claim(make_session(ada, posting), stage, NOW)
    assert again is not None
    assert again.unit_id == begun.unit_id


def cents_at_most(slug: str, redundancy: dict[str, int], collection: Collection) -> int:
    """Return what the answers of a collection over the same corpus cost at most."""
    made = make_collection(collection.corpus, slug=slug, answer__redundancy=redundancy)
    (row,) = [each for each in estimate(made) if each.stage.name == NAME]
    assert row.expected_cents <= row.maximum_cents
    return row.maximum_cents


def test_the_estimate_counts_what_more_people_do() -> None:
    first = make_collection(slug="first")
    once = cents_at_most("once", dict.fromkeys(("train", "dev", "test"), 1), first)
    some = cents_at_most("some", {**SHARE, "percent": 50}, first)
    all_twice = cents_at_most("all", {**SHARE, "percent": 100}, first)
    assert once < some < all_twice
    assert all_twice >= 2 * once


def test_a_log_is_recreated_with_the_people_it_had(stage: Stage) -> None:
    assert create_unit(stage, [], 3).redundancy == 3
