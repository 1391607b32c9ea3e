"""Tests of the command that changes pay, places and budget."""

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from collector.models import Collection
from collector.protocols.creation import parameters_of
from tasks.tests.making import make_collection, make_posting, stage_of

pytestmark = pytest.mark.django_db
RAISE = "--set=question.reward_cents=500"
WHY = "--why=It takes longer than we thought."


@pytest.fixture
def pilot() -> Collection:
    """Return a published collection of two question HITs."""
    return make_collection()


def change(*options: str) -> str:
    """Return what the command prints."""
    printed = StringIO()
    call_command("change_collection", "pilot", *options, stdout=printed)
    return printed.getvalue()


def reward(collection: Collection) -> int:
    """Return what a question HIT pays from now on."""
    collection.refresh_from_db()
    return parameters_of(collection).stages()["question"].reward_cents


def test_it_changes_the_pay_and_prints_what_it_costs(pilot: Collection) -> None:
    for name in ("question", "answer"):
        make_posting(stage_of(pilot, name))
    printed = change(RAISE, WHY)
    assert reward(pilot) == 500
    lines = printed.splitlines()
    assert lines[0] == "question.reward_cents: 400 -> 500"
    assert "HITs that are up and keep what they pay: 1." in lines
    assert lines[-1] == "Changed for everything posted from now on."
    assert pilot.revisions.get().by == "the command line"


def test_a_dry_run_changes_nothing(pilot: Collection) -> None:
    assert change(RAISE, "--dry-run").splitlines()[-1] == "Nothing was changed."
    assert reward(pilot) == 400


def test_for_scripts_it_prints_the_costs_in_cents(pilot: Collection) -> None:
    told: dict[str, Any] = json.loads(change(RAISE, WHY, "--json"))
    assert told["changes"] == [{"key": "question.reward_cents", "old": 400, "new": 500}]
    assert told["maximum_total_cents"]["after"] - told["maximum_total_cents"]["before"] == 2 * 110
    assert told["hits_up"] == 0


def test_it_sets_the_budget_with_the_pay(pilot: Collection) -> None:
    change(RAISE, WHY, "--budget=1200", "--by=rita")
    pilot.refresh_from_db()
    assert pilot.budget_cents == 120_000
    assert [row.by for row in pilot.revisions.all()] == ["rita", "rita"]
    assert pilot.revisions.get(key="budget_cents").why == WHY.partition("=")[2]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ((), "Nothing to change: give --set KEY=VALUE or --budget AMOUNT"),
        ((RAISE,), "Say why"),
        (("--set=question.reward_cents",), "write it as KEY=VALUE"),
        (("--set=question.items_per_hit=3", WHY), "is locked since the first publication"),
        (("--set=question.reward_cents=much", WHY), "should be a valid integer"),
        (("--budget=-5",), "is no amount: write it like 12.50"),
        (("--budget=nan",), "is no amount: write it like 12.50"),
        ((RAISE, WHY, "--budget=1"), "are reserved or spent already"),
    ],
)
def test_it_refuses_in_one_line_and_changes_nothing(
    pilot: Collection, options: tuple[str, ...], sentence: str
) -> None:
    Collection.objects.update(spent_cents=1000)
    with pytest.raises(CommandError, match=sentence) as refused:
        change(*options)
    assert "\n" not in str(refused.value)
    assert reward(pilot) == 400
    assert not pilot.revisions.exists()


def test_it_names_the_collections_there_are(pilot: Collection) -> None:
    with pytest.raises(CommandError, match="Known: pilot"):
        call_command("change_collection", "nothing", RAISE, WHY)
