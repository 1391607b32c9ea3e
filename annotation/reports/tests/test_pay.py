"""Pay per stage: times of people, rates by the hour, and the requester's floor."""

import pytest

from annotation.dashboard.money.spending import pace_of
from annotation.protocols.iirc.tests.island import island
from annotation.reports.pay import SHORTEST_SECONDS, bonus_tables, pay_of, pay_table
from annotation.tests.making import NOW, make_submission
from collector.models import Collection
from collector.protocols.creation import parameters_of
from tasks.models import Payment, ReceiptState, Submission

pytestmark = pytest.mark.django_db


def pay(submission: Submission, cents: int, state: str = "confirmed", kind: str = "reward") -> None:
    """Write a payment for a submission."""
    stage = submission.lease.unit.stage
    Payment.objects.create(
        collection=stage.collection,
        stage=stage,
        worker=submission.lease.worker,
        submission=submission,
        kind=kind,
        amount_cents=cents,
        fee_cents=20,
        key=f"{kind}:{submission.pk}",
        state=state,
        created_at=NOW,
    )


@pytest.fixture
def collection() -> Collection:
    """Return a collection with three question HITs handed in, one of them simulated."""
    made = island()
    stage = made.stages.get(name="question")
    for seconds, worker, synthetic in [(1200, "ada", False), (1800, "ida", False), (3, "x", True)]:
        submission = make_submission(stage, worker, seconds=seconds, synthetic=synthetic)
        pay(submission, 400, "due" if worker == "ida" else "confirmed")
    return made


def test_the_rate_is_the_reward_over_the_median_time_of_people(collection: Collection) -> None:
    question = next(row for row in pay_of(collection) if row.stage == "question")
    assert (question.assignments, question.simulated) == (3, 1)
    assert question.median_seconds == 1500
    assert question.hourly_cents == 960
    assert (question.approved_cents, question.pending_cents) == (800, 400)
    assert question.fee_cents == 60


def test_bonuses_are_part_of_the_rate(collection: Collection) -> None:
    work = Submission.objects.filter(lease__unit__stage__name="question").order_by("id")
    for state, submission in zip(("due", "refused", "withheld"), work, strict=True):
        pay(submission, 150, state, kind="bonus")
    for bonus in Payment.objects.filter(kind="bonus"):
        assert bonus.submission
        bonus.lease = bonus.submission.lease
        bonus.save()
    question = next(row for row in pay_of(collection) if row.stage == "question")
    assert (question.reward_cents, question.bonus_cents) == (400, 100)
    assert question.hourly_cents == 1200
    assert (question.pending_cents, question.refused_cents) == (550, 150)
    assert "Bonuses refused by the marketplace: $1.50" in pay_table(collection).note
    stage = collection.stages.get(name="question")
    found = pace_of(stage, parameters_of(collection))
    assert found is not None
    # The medians: of 400 + 150 cents, and of 1,200 and 1,800 seconds.
    assert found.cents_per_hour == 1320


def test_rejected_work_counts_with_its_time_and_without_its_reward(collection: Collection) -> None:
    stage = collection.stages.get(name="question")
    work = make_submission(stage, "eve", seconds=1500)
    pay(work, 400, "withheld")
    Submission.objects.filter(pk=work.pk).update(state=ReceiptState.REJECTED)
    question = next(row for row in pay_of(collection) if row.stage == "question")
    # What was paid of 400, 400, 400 and a withheld 400, over 1,500 seconds.
    assert (question.reward_cents, question.unpaid, question.hourly_cents) == (400, 1, 720)
    note = "Rejected assignments count in it with their time and without a reward."
    assert note in pay_table(collection).note
    Payment.objects.filter(submission__lease__worker_id__in=["ada", "ida"]).update(state="withheld")
    found = pace_of(stage, parameters_of(collection))
    assert found is not None
    assert (found.submissions, found.cents_per_hour, found.below_floor) == (3, 0, True)


def test_a_stage_under_the_floor_is_named(collection: Collection) -> None:
    assert "Under the floor" not in pay_table(collection).note
    make_submission(collection.stages.get(name="question"), "eve", seconds=7200)
    make_submission(collection.stages.get(name="question"), "kay", seconds=7200)
    table = pay_table(collection)
    assert "Under the floor of $9.00 an hour: question." in table.note
    assert "Times of simulated workers say nothing about people and are left out." in table.note
    assert "Fees come on top: $0.60." in table.note
    assert table.rows[1][:7] == ["question", 5, 1, "$4.00", None, 75.0, "$3.20"]
    assert table.rows[-1][0] == "total"


def test_no_rate_follows_from_simulated_work(collection: Collection) -> None:
    Submission.objects.update(synthetic=True)
    question = next(row for row in pay_of(collection) if row.stage == "question")
    assert (question.median_seconds, question.hourly_cents) == (None, None)
    table = pay_table(collection)
    assert table.texts()[1][5:7] == ["–", "–"]
    assert "simulated workers say nothing" in table.note


def test_no_rate_follows_from_a_few_seconds_and_the_note_says_so(collection: Collection) -> None:
    Submission.objects.update(active_seconds=SHORTEST_SECONDS - 1)
    table = pay_table(collection)
    assert table.texts()[1][5:7] == ["–", "–"]
    assert "No rate where the median is under 30 seconds" in table.note
    assert "too short to be the time of work: question" in table.note
    assert "Under the floor" not in table.note


def test_bonuses_are_told_where_there_are_any(collection: Collection) -> None:
    assert bonus_tables(collection) == []
    for submission in Submission.objects.filter(lease__unit__stage__name="question")[:2]:
        pay(submission, 150, "due", kind="bonus")
    (table,) = bonus_tables(collection)
    assert table.rows == [["question", 2, 2, "$3.00", "$1.50"]]
