"""A HIT is posted once, whole, and for money that is there."""

from typing import Any

import pytest

from common.tests.row_paths import watch_writes
from marketplace import clock
from marketplace.models import HIT, Event, HITType, Requester, SeenRequest
from marketplace.operations.hits import create_hit
from marketplace.tests.conftest import DATABASES, QUESTION
from marketplace.tests.refusals import refused
from marketplace.tests.test_races import at_once
from marketplace.wire.calls import Call
from marketplace.wire.signature import refuse_replay

PARAMETERS = {
    "Title": "t",
    "Description": "d",
    "Reward": "4.50",
    "AssignmentDurationInSeconds": 3600,
    "LifetimeInSeconds": 86400,
    "Question": QUESTION,
}


def calling(rf: Any) -> Call:
    return Call(Requester.objects.get(name="Rita"), clock.now(), rf.post("/"))


def test_the_second_hit_of_a_type_is_like_the_first(rita: Any, make_hit: Any) -> None:
    first, second = (make_hit(rita, MaxAssignments=2) for _ in range(2))
    own = ("HITId", "CreationTime", "Expiration")
    for hit in (first, second):
        assert rita.get_hit(HITId=hit["HITId"])["HIT"] == hit
    assert [first.pop(name) != second.pop(name) for name in own] == [True, True, True]
    assert first == second
    balance = rita.get_account_balance()
    assert (balance["AvailableBalance"], balance["OnHoldBalance"]) == ("9982.00", "18.00")


def test_a_hit_that_is_not_covered_changes_nothing(rita: Any, make_hit: Any) -> None:
    make_hit(rita)
    before = rita.get_account_balance()["AvailableBalance"]
    with refused("InsufficientFunds"):
        make_hit(rita, MaxAssignments=10_000)
    assert HIT.objects.count() == 1
    assert rita.get_account_balance()["AvailableBalance"] == before


def test_old_attempts_are_forgotten() -> None:
    SeenRequest.objects.create(attempt="old", seen_at="2020-01-01T00:00Z")
    refuse_replay("000f", clock.now())
    assert [one.attempt for one in SeenRequest.objects.all()] == ["000f"]


def test_a_type_that_tells_goes_on_telling(rita: Any, make_hit: Any) -> None:
    make_hit(rita)
    HITType.objects.update(
        is_notifying=True,
        notification={
            "Transport": "SQS",
            "Destination": "https://events.example/",
            "Version": "2014-08-15",
            "EventTypes": ["HITCreated"],
        },
    )
    hit = make_hit(rita)
    assert [event.content["HITId"] for event in Event.objects.all()] == [hit["HITId"]]


@pytest.mark.django_db(databases=DATABASES, transaction=True)
def test_money_for_three_makes_three(rita: Any, rf: Any) -> None:
    create_hit(calling(rf), PARAMETERS)
    Requester.objects.update(balance_cents=3 * 450 + 449)
    results = at_once(lambda n: create_hit(calling(rf), PARAMETERS))
    assert sum(isinstance(one, dict) for one in results) == 3, results
    assert HIT.objects.count() == 4
    assert Requester.objects.get().balance_cents == 449


@pytest.mark.django_db(databases=DATABASES, transaction=True)
def test_of_the_same_attempt_at_once_one_counts() -> None:
    results = at_once(lambda n: refuse_replay("same", clock.now()))
    assert results.count(None) == 1, results


@pytest.mark.parametrize("n_before", [0, 1])
def test_a_hit_passes_eight_modules_from_call_to_row(
    rita: Any, make_hit: Any, monkeypatch: pytest.MonkeyPatch, n_before: int
) -> None:
    for _ in range(n_before):
        make_hit(rita)
    ways = watch_writes(monkeypatch, HIT)
    make_hit(rita)
    assert ways
    assert all("marketplace.operations.views" in way and len(way) <= 8 for way in ways), ways
