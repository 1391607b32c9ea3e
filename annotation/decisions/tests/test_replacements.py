"""Work that is left out of a dataset is asked for once more, where something waits for it."""

import pytest

from annotation.dashboard.tests.making import make_answer, make_question, make_submission
from annotation.decisions.by_hand import exclude_worker, include_again
from annotation.jobs import decide
from annotation.models import Verdict
from collector.models import Collection, Seed, Stage
from collector.protocols.creation import parameters_of
from tasks import hits
from tasks.costs import StageEstimate, estimate, keep_maximum, say_maximum
from tasks.ledger.budget import fee_cents
from tasks.models import (
    Lease,
    Question,
    Unit,
    Worker,
)
from tasks.tests.making import (
    NOW,
    make_collection,
    make_posting,
    make_session,
    make_worker,
    questions_for,
    stage_of,
)
from tasks.work import leases, submissions, units

pytestmark = pytest.mark.django_db


@pytest.fixture
def collection() -> Collection:
    """Return a collection that is collecting; an answer HIT has two questions."""
    return make_collection()


@pytest.fixture
def mallory() -> object:
    return make_worker("AMALLORY")


def ask(collection: Collection, *writers: object) -> list[Question]:
    """Return a question by each of the writers, in their order."""
    stage = stage_of(collection, "question")
    return [make_question(stage, worker=writer) for writer in writers]


def answered(question: Question, *workers: object, stage_name: str = "answer") -> Unit:
    """Return the unit in which these people have answered the question, each place taken."""
    stage = stage_of(question.stage.collection, stage_name)
    unit = units.create_unit(stage, [question], len(workers))
    for worker in workers:
        work = make_submission(stage, worker)
        spare = work.lease.unit
        Lease.objects.filter(pk=work.lease_id).update(unit=unit)
        spare.delete()
        work.lease.refresh_from_db()
        make_answer(question, stage, "none", submission=work)
    unit.taken = unit.submitted = len(workers)
    unit.save()
    return unit


def cost_of(stage: Stage) -> StageEstimate:
    """Return what the stage costs."""
    return next(row for row in estimate(stage.collection) if row.stage == stage)


def test_a_vote_that_is_left_out_is_asked_for_once_more(collection, mallory) -> None:
    [question] = ask(collection, make_worker("AADA"))
    Question.objects.update(seed=Seed.objects.filter(fold="train").first())
    unit = answered(question, mallory)
    made = exclude_worker(collection, mallory, "Copied.", "rita", NOW)
    for _ in range(2):
        decide(collection)
    stage = stage_of(collection, "answer")
    assert hits.places_left(stage) == 1
    include_again(made, "They were not.", "rita", NOW)
    decide(collection)
    unit.refresh_from_db()
    assert (unit.redundancy, unit.submitted) == (1, 1)


def test_a_vote_that_no_verdict_waits_for_is_not_asked_for_again(collection, mallory) -> None:
    [question] = ask(collection, make_worker("AADA"))
    Question.objects.update(seed=Seed.objects.filter(fold="dev").first())
    answered(question, *(make_worker(name) for name in ("AGRACE", "AIDA", "AEDITH")), mallory)
    exclude_worker(collection, mallory, "Copied.", "rita", NOW)
    decide(collection)
    assert Verdict.objects.get().outcome == "kept"
    assert hits.places_left(stage_of(collection, "answer")) == 0


def test_a_vote_that_was_given_again_stays_when_the_first_is_included_again(
    collection, mallory
) -> None:
    [question] = ask(collection, make_worker("AADA"))
    unit = answered(question, mallory)
    made = exclude_worker(collection, mallory, "Copied.", "rita", NOW)
    decide(collection)
    lease = leases.claim(
        make_session(make_worker("AGRACE"), make_posting(unit.stage)), unit.stage, NOW
    )
    include_again(made, "They were not.", "rita", NOW)
    decide(collection)
    assert leases.submit(lease, NOW)
    unit.refresh_from_db()
    assert (unit.redundancy, unit.taken) == (2, 2)


def test_what_an_excluded_writer_was_to_ask_somebody_else_is_asked_for(collection, mallory) -> None:
    stage = stage_of(collection, "question")
    lease = leases.claim(make_session(mallory, make_posting(stage)), stage, NOW)
    before = hits.places_left(stage)
    submissions.hand_in(lease, questions_for(lease), NOW, synthetic=False)
    assert hits.places_left(stage) == before - 1
    exclude_worker(collection, mallory, "Copied.", "rita", NOW)
    decide(collection)
    assert hits.places_left(stage) == before
    ada = make_worker("AADA")
    taken = [
        leases.claim(make_session(ada, make_posting(stage)), stage, NOW).unit_id
        for _ in range(before)
    ]
    assert lease.unit_id in taken


def test_the_place_of_a_withdrawn_vote_is_opened_again(collection, mallory) -> None:
    [question] = ask(collection, make_worker("AADA"))
    unit = answered(question, mallory)
    Worker.objects.filter(pk=mallory.pk).update(withdrawn_at=NOW)
    decide(collection)
    assert hits.places_left(unit.stage) == 1


def test_a_second_reading_by_an_excluded_reader_is_asked_for_once_more(collection, mallory) -> None:
    [question] = ask(collection, make_worker("AADA"))
    unit = answered(question, mallory, stage_name="human_performance")
    exclude_worker(collection, mallory, "Copied.", "rita", NOW)
    for _ in range(2):
        decide(collection)
    assert hits.places_left(unit.stage) == 1


def test_in_a_stage_that_is_closed_no_place_is_opened_again(collection, mallory) -> None:
    [question] = ask(collection, make_worker("AADA"))
    unit = answered(question, mallory)
    collection.stages.filter(pk=unit.stage_id).update(state="closed")
    exclude_worker(collection, mallory, "Copied.", "rita", NOW)
    decide(collection)
    unit.refresh_from_db()
    assert unit.redundancy == 1


def test_what_the_collection_costs_at_most_is_said_anew_with_the_place(collection, mallory) -> None:
    say_maximum(collection, NOW)
    before = estimate(collection)
    stage = stage_of(collection, "question")
    lease = leases.claim(make_session(mallory, make_posting(stage)), stage, NOW)
    submissions.hand_in(lease, questions_for(lease), NOW, synthetic=False)
    exclude_worker(collection, mallory, "Copied.", "rita", NOW)
    decide(collection)
    collection.refresh_from_db()
    assert keep_maximum(collection, NOW) == 1
    more = [
        after.maximum_cents - row.maximum_cents
        for row, after in zip(before, estimate(collection), strict=True)
    ]
    assert sum(more) == 400 + fee_cents(400, parameters_of(collection).pay)


def test_what_was_paid_for_answers_to_an_excluded_writer_raises_the_estimate(
    collection, mallory
) -> None:
    stage, answers = (stage_of(collection, name) for name in ("question", "answer"))
    lease = leases.claim(make_session(mallory, make_posting(stage)), stage, NOW)
    submissions.hand_in(lease, questions_for(lease), NOW, synthetic=False)
    before = cost_of(answers)
    units.bundle(answers, parameters_of(collection))
    posting = make_posting(answers, 300, 300)
    lease = leases.claim(make_session(make_worker("AADA"), posting), answers, NOW)
    given = [{"item": item, "type": "none"} for item in "01"]
    submissions.hand_in(lease, {"answers": given}, NOW, synthetic=False)
    exclude_worker(collection, mallory, "Copied.", "rita", NOW)
    decide(collection)
    after = cost_of(answers)
    assert after.maximum_cents == before.maximum_cents + 300
    assert after.expected_cents == before.expected_cents + 300
