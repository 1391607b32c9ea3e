"""Tests of changing a collection's parameters after its creation."""

from typing import Any

import pytest
from django.utils import timezone

from collector.models import Collection, CollectionState
from collector.protocols.creation import newest, parameters_of, planned, revise, revisions_of
from common.actions import ActionError
from tasks.tests.making import make_collection

pytestmark = pytest.mark.django_db


@pytest.fixture
def pilot() -> Collection:
    """Return a published collection."""
    return make_collection()


@pytest.fixture
def draft() -> Collection:
    """Return a collection with seeds that was never published."""
    made = make_collection()
    for stage in made.stages.all():
        for unit in stage.units.all():
            unit.items.all().delete()
            unit.delete()
    made.state = CollectionState.DRAFT
    made.save()
    return made


def change(collection: Collection, **wanted: Any) -> Any:
    """Change parameters as Rita; `wanted` uses __ for the dot."""
    dotted = {name.replace("__", "."): value for name, value in wanted.items()}
    return revise(collection, dotted, why="Too little.", by="rita", now=timezone.now())


def test_a_change_is_stored_and_recorded_with_who_when_and_why(pilot: Collection) -> None:
    change(pilot, question__reward_cents=500, question__places_at_once=3)
    pilot.refresh_from_db()
    table = parameters_of(pilot).stages()["question"]
    assert (table.reward_cents, table.places_at_once) == (500, 3)
    first, second = pilot.revisions.all()
    assert (first.key, first.old, first.new) == ("question.reward_cents", 400, 500)
    assert (second.key, second.by, second.why) == ("question.places_at_once", "rita", "Too little.")
    assert first.at == second.at


def test_a_value_that_is_the_same_is_no_change(pilot: Collection) -> None:
    change(pilot, question__reward_cents=500, answer__reward_cents=300)
    assert [row.key for row in pilot.revisions.all()] == ["question.reward_cents"]


@pytest.mark.parametrize(
    ("wanted", "sentence"),
    [
        ({"question.reward_cents": 400}, "Nothing would change"),
        ({"question.reward": 500}, "There is no parameter 'question.reward'"),
        ({"ask.reward_cents": 500}, "There is no table 'ask'"),
        ({"question.reward_cents": -1}, "question.reward_cents: Input should be greater"),
        ({"question.reward_cents": "much"}, "question.reward_cents: Input should be a valid"),
        ({"question.title": "x" * 129}, "question.title: String should have at most 128"),
        (
            {"question.items_per_hit": 5},
            "decides the data or was promised to workers, and is locked",
        ),
        ({"agreement.min_agreeing": 3}, "create another collection for another value"),
        ({"question.redundancy.train": 3}, "locked since the first publication"),
        ({"question.kind": "answer"}, "says what the collection is and never changes"),
        ({"protocol.name": "other"}, "says what the collection is and never changes"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_changes(
    pilot: Collection, wanted: dict[str, Any], sentence: str
) -> None:
    before = pilot.parameters
    with pytest.raises(ActionError, match=sentence):
        revise(pilot, wanted, why="Hm.", by="rita", now=timezone.now())
    pilot.refresh_from_db()
    assert pilot.parameters == before
    assert not pilot.revisions.exists()


def test_one_refused_value_refuses_the_others_too(pilot: Collection) -> None:
    with pytest.raises(ActionError):
        change(pilot, question__reward_cents=500, question__items_per_hit=5)
    assert not pilot.revisions.exists()


def test_a_whole_table_is_refused(pilot: Collection) -> None:
    table = {**pilot.parameters["question"], "reward_cents": 500}
    with pytest.raises(ActionError, match=r"as in question\.KEY"):
        revise(pilot, {"question": table}, why="Hm.", by="rita", now=timezone.now())


def test_a_change_without_a_reason_is_refused(pilot: Collection) -> None:
    with pytest.raises(ActionError, match="Say why"):
        revise(pilot, {"question.reward_cents": 5}, why=" ", by="rita", now=timezone.now())


def test_before_publication_anything_may_change_and_old_seeds_are_let_go(draft: Collection) -> None:
    number = draft.seeds.count()
    assert planned(draft, {"question.items_per_hit": 3}).lost_seeds == number > 0
    assert draft.seeds.count() == number
    change(draft, question__items_per_hit=3, agreement__min_agreeing=3)
    draft.refresh_from_db()
    assert parameters_of(draft).stages()["question"].items_per_hit == 3
    assert not draft.seeds.exists()


def test_pay_leaves_the_seeds_of_a_draft_alone(draft: Collection) -> None:
    number = draft.seeds.count()
    assert change(draft, question__reward_cents=500).lost_seeds == 0
    assert draft.seeds.count() == number


def test_what_a_draft_is_never_changes(draft: Collection) -> None:
    with pytest.raises(ActionError, match="never changes"):
        change(draft, question__qualifies=True)


def test_a_change_that_somebody_overtook_is_refused(pilot: Collection) -> None:
    seen = newest(pilot)
    change(pilot, question__reward_cents=500)
    with pytest.raises(ActionError, match="Somebody changed something meanwhile"):
        revise(
            pilot,
            {"answer.reward_cents": 400},
            why="Hm.",
            by="grace",
            now=timezone.now(),
            seen=seen,
        )


def test_a_change_that_comes_again_is_made_once(pilot: Collection) -> None:
    sent = {"why": "Hm.", "by": "grace", "now": timezone.now(), "seen": newest(pilot)}
    both = {"question.reward_cents": 500, "answer.reward_cents": 400}
    assert len(revise(pilot, both, **sent).changes) == 2
    assert revise(pilot, both, **sent).changes == []
    assert pilot.revisions.count() == 2
    for others in (
        {**both, "question.places_at_once": 9},
        {"question.reward_cents": 500},
        {**both, "answer.reward_cents": 450},
    ):
        with pytest.raises(ActionError, match="Somebody changed something meanwhile"):
            revise(pilot, others, **sent)


def test_the_budget_and_the_state_are_no_parameters(pilot: Collection) -> None:
    pilot.revisions.create(key="budget_cents", old=1, new=2, by="rita", at=timezone.now())
    pilot.revisions.create(key="state", old="a", new="b", by="rita", at=timezone.now())
    assert not revisions_of(pilot).exists()
    assert newest(pilot) == 0


def test_the_protocol_s_file_is_not_read_again(
    pilot: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: Any) -> Any:
        raise AssertionError("protocol.toml was read")

    monkeypatch.setattr("collector.protocols.loading.Protocol.defaults", fail)
    change(pilot, question__reward_cents=500)
