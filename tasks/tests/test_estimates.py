"""What a collection costs at most is said at publication and kept; and what an hour of it pays."""

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.db import IntegrityError, transaction

from collector.models import Collection
from collector.protocols.creation import current_text, parameters_of
from collector.protocols.loading import get_protocol
from collector.protocols.parameters import PayTable
from collector.seeds.selection import select_seeds
from tasks import costs, hits
from tasks.costs import estimate, shortfalls, totals
from tasks.ledger import budget
from tasks.ledger.pay_terms import told_requester
from tasks.lifecycle.publication import notices
from tasks.pages.wording import fill_placeholders
from tasks.tests.making import NOW, make_collection, make_posting, stage_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def pilot() -> Collection:
    """Return an open collection with two units of two paragraphs each."""
    return make_collection()


def most(collection: Collection, name: str) -> int:
    """Return what the stage costs at most."""
    return next(row.maximum_cents for row in estimate(collection) if row.stage.name == name)


@pytest.mark.parametrize(
    ("amount_cents", "fee_cents"), [(0, 3), (12, 3), (17, 3), (18, 4), (22, 4), (23, 5), (450, 90)]
)
def test_a_fee_is_a_share_rounded_half_up_and_never_below_the_least(
    amount_cents: int, fee_cents: int
) -> None:
    pay = PayTable.model_construct(fee_percent=20, min_fee_cents=3)
    assert budget.fee_cents(amount_cents, pay) == fee_cents


def test_half_a_cent_of_fee_is_rounded_up() -> None:
    pay = PayTable.model_construct(fee_percent=10, min_fee_cents=0)
    assert [budget.fee_cents(cents, pay) for cents in (24, 25, 26)] == [2, 3, 3]


def test_both_writers_questions_let_as_many_people_try_to_qualify(pilot: Collection) -> None:
    table = parameters_of(pilot).stages()["answer_qualification"]
    assert most(pilot, "answer_qualification") == 2 * table.redundancy.train * table.reward_cents


def test_each_question_may_be_written_where_most_answers_are_wanted(pilot: Collection) -> None:
    pilot.seeds.filter(stage__name="question").update(fold="train")
    assert most(pilot, "answer") == 2 * 300
    one = pilot.seeds.filter(stage__name="question").latest("position")
    one.fold = "dev"
    one.save()
    # Four questions; of a unit with a paragraph of dev both may be about it: three answers each.
    assert most(pilot, "answer") == (2 + 3 * 2 // 2 * 2) // 2 * 300 + 300


def test_the_maximum_is_said_once_and_work_stops_at_it(pilot: Collection) -> None:
    said = costs.say_maximum(pilot, NOW)
    rows = totals(pilot, estimate(pilot))
    assert rows.maximum == said
    assert rows.repeats == said - sum(row.maximum_cents for row in estimate(pilot))
    assert budget.reserve(pilot.pk, said)
    assert not budget.reserve(pilot.pk, 1), "the budget has more, and it was not said"
    stage = stage_of(pilot, "question")
    assert hits.plan_postings(stage, NOW) == 0
    with pytest.raises(IntegrityError), transaction.atomic():
        Collection.objects.filter(pk=pilot.pk).update(spent_cents=1)


def test_what_workers_do_changes_nothing_of_what_was_said(pilot: Collection) -> None:
    said = costs.say_maximum(pilot, NOW)
    make_posting(stage_of(pilot, "question"))
    assert costs.keep_maximum(pilot, NOW) == 0
    pilot.refresh_from_db()
    assert totals(pilot, estimate(pilot)).maximum == said


def test_more_seeds_and_other_pay_say_it_anew_and_record_it(pilot: Collection) -> None:
    before = costs.say_maximum(pilot, NOW)
    select_seeds(pilot, 4)
    assert costs.keep_maximum(pilot, NOW) == 1
    pilot.refresh_from_db()
    assert pilot.maximum_cents is not None
    assert pilot.maximum_cents > before
    row = pilot.revisions.get()
    assert (row.key, row.old, row.new) == ("maximum_cents", before, pilot.maximum_cents)
    assert costs.keep_maximum(pilot, NOW) == 0


def test_a_bonus_that_a_person_adds_is_added_to_the_maximum(pilot: Collection) -> None:
    said = costs.say_maximum(pilot, NOW)
    assert budget.reserve_beside(pilot.pk, 50)
    pilot.refresh_from_db()
    assert pilot.maximum_cents == said + 50


def test_work_that_is_owed_is_paid_past_the_maximum_and_the_overrun_shows(
    pilot: Collection,
) -> None:
    said = costs.say_maximum(pilot, NOW)
    assert budget.reserve(pilot.pk, said)
    with transaction.atomic():
        budget.hold_anyway(pilot.pk, 30, "late work", NOW)
    pilot.refresh_from_db()
    assert pilot.maximum_cents == said + 30
    assert pilot.revisions.get().by == "late work"


@pytest.mark.parametrize("protocol", ["iirc", "quac", "hotpotqa"])
def test_every_stage_pays_the_protocols_own_floor_by_its_own_minutes(protocol: str) -> None:
    assert shortfalls(get_protocol(protocol).parameters()) == []


def test_a_stage_below_the_floor_is_named_with_what_it_lacks(pilot: Collection) -> None:
    parameters = get_protocol("iirc").parameters(
        {"answer.reward_cents": 250, "question.expected_minutes": 60}
    )
    assert [each.stage for each in shortfalls(parameters)] == ["question", "answer"]
    told = notices(parameters)
    assert any("pays $7.50 an hour" in each and "Pay $0.50 more a HIT" in each for each in told)
    pilot.parameters = parameters.model_dump(mode="json")
    pilot.save()
    out = StringIO()
    call_command("estimate", "pilot", "--json", stdout=out)
    said: dict[str, Any] = json.loads(out.getvalue())
    assert said["below_floor"] == ["question", "answer"]
    out = StringIO()
    call_command("estimate", "pilot", stdout=out)
    assert "Maximum total" in out.getvalue()
    assert "below your floor of $9.00" in out.getvalue()


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({}, "within 48 hours"),
        ({"pay.approve_after_hours": 1}, "within 1 hour of"),
        ({"pay.approve_after_hours": 0}, "Nothing can be rejected"),
        ({"answer.auto_approval_days": 1}, "within 24 hours"),
    ],
)
def test_it_is_said_whether_and_until_when_work_can_be_rejected(
    changed: dict[str, Any], sentence: str
) -> None:
    parameters = get_protocol("iirc").parameters(changed)
    assert sentence in told_requester(parameters)


@pytest.mark.parametrize(
    ("hours", "minutes", "promised"),
    [
        (48, 2880, "paid by itself 48 hours after"),
        (0.001, 1, "unless somebody who has read it proposes before then to reject it"),
        (0, 0, "nothing is rejected"),
    ],
)
def test_consent_list_and_publish_promise_the_same_of_rejection(
    pilot: Collection, hours: float, minutes: int, promised: str
) -> None:
    parameters = get_protocol("iirc").parameters({"pay.approve_after_hours": hours})
    consent = current_text(pilot, "consent").markdown
    assert promised in fill_placeholders(consent, pilot, parameters, "question")
    stated = hits.keywords(pilot.stages.get(name="question"), parameters)
    assert f"rejected-within-minutes:{minutes}" in stated.split(", ")
    assert ("Nothing can be rejected" in told_requester(parameters)) == (hours == 0)
