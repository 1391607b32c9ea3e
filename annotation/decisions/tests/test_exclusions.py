"""Leaving out everything by a worker: one act, undone by one act, and nobody's pay changes."""

import pytest

from annotation.dashboard.tests.making import make_answer, make_question, make_submission
from annotation.decisions.by_hand import exclude_worker, include_again, override_verdict
from annotation.decisions.records import records
from annotation.decisions.verdicts import decide_collection
from annotation.models import Exclusion, Verdict
from collector.models import Collection
from common.actions import ActionError
from tasks.models import Payment, Question
from tasks.tests.making import NOW, make_collection, make_worker, stage_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def collection() -> Collection:
    """Return a collection of which every question has two answers that agree."""
    return make_collection()


@pytest.fixture
def mallory(collection: Collection) -> object:
    """Return a worker who has written one question and answered another."""
    return make_worker("AMALLORY")


@pytest.fixture
def written(collection: Collection, mallory) -> Question:
    """Return Mallory's question, kept by two votes."""
    question = make_question(stage_of(collection, "question"), worker=mallory)
    for _ in range(2):
        make_answer(question, stage_of(collection, "answer"))
    return question


@pytest.fixture
def answered(collection: Collection, mallory) -> Question:
    """Return somebody else's question, whose first vote is Mallory's."""
    question = make_question(stage_of(collection, "question"))
    stage = stage_of(collection, "answer")
    make_answer(question, stage, submission=make_submission(stage, mallory))
    make_answer(question, stage)
    decide_collection(collection, NOW)
    return question


def beliefs(collection: Collection) -> dict[str, tuple]:
    """Return what is believed of every question."""
    rows = Verdict.objects.filter(question__stage__collection=collection)
    return {
        row.question.key: (
            row.outcome,
            row.reason,
            row.sentence,
            row.chosen_id,
            row.agreeing,
            row.n_votes,
            row.overridden,
        )
        for row in rows.select_related("question")
    }


def ledger() -> list[tuple]:
    return list(Payment.objects.order_by("pk").values_list("pk", "state", "amount_cents"))


def released(collection: Collection) -> dict[str, int]:
    """Return the number of votes of every question that a release reads."""
    found = [question for seed in records(collection) for question in seed["questions"]]
    return {question["key"]: len(question["votes"]) for question in found}


def test_one_act_leaves_out_all_and_one_takes_it_all_back(
    collection, mallory, written, answered
) -> None:
    before, paid, all_of_it = beliefs(collection), ledger(), released(collection)
    made = exclude_worker(collection, mallory, "Copied answers.", "rita", NOW)
    now = beliefs(collection)
    assert now[written.key][:2] == ("dropped", "writer_left_out")
    assert Verdict.objects.get(question=written).sentence == "Its writer is left out."
    assert now[answered.key][5] == before[answered.key][5] - 1 == 1
    assert written.key not in released(collection)
    assert released(collection)[answered.key] == 1
    assert decide_collection(collection, NOW) == 0
    include_again(made, "They were quotations.", "grace", NOW)
    assert beliefs(collection) == before
    assert released(collection) == all_of_it
    assert ledger() == paid
    made.refresh_from_db()
    assert (made.by, made.why, made.back_by, made.back_why) == (
        "rita",
        "Copied answers.",
        "grace",
        "They were quotations.",
    )


def test_what_a_hand_decided_falls_with_it_and_comes_back(
    collection, mallory, written, answered
) -> None:
    verdict = answered.verdict
    mallorys = answered.answers.get(worker=mallory)
    # What others agree on is overruled.
    mallorys.payload = mallorys.payload | {"value": "70"}
    mallorys.save()
    make_answer(answered, mallorys.stage)
    decide_collection(collection, NOW)
    override_verdict(verdict, "kept", mallorys, "It is right.", "rita", NOW)
    before = beliefs(collection)
    assert before[answered.key][4] == [mallorys.pk]
    made = exclude_worker(collection, mallory, "Copied answers.", "rita", NOW)
    assert beliefs(collection)[answered.key][3] != mallorys.pk
    verdict.refresh_from_db()
    with pytest.raises(ActionError, match="include it again first"):
        override_verdict(verdict, "kept", mallorys, "It is right.", "rita", NOW)
    include_again(made, "They were not.", "rita", NOW)
    assert beliefs(collection) == before


def test_a_question_that_nobody_has_answered_is_dropped_and_waits_again(
    collection, mallory
) -> None:
    question = make_question(stage_of(collection, "question"), worker=mallory)
    made = exclude_worker(collection, mallory, "Copied.", "rita", NOW)
    assert Verdict.objects.get(question=question).reason == "writer_left_out"
    assert decide_collection(collection, NOW) == 0
    include_again(made, "Not copied.", "rita", NOW)
    assert not Verdict.objects.filter(question=question).exists()


def test_what_they_make_later_is_left_out_too(collection, mallory, answered) -> None:
    exclude_worker(collection, mallory, "Copied answers.", "rita", NOW)
    stage = stage_of(collection, "answer")
    later = make_question(stage_of(collection, "question"))
    make_answer(later, stage, submission=make_submission(stage, mallory))
    decide_collection(collection, NOW)
    assert not Verdict.objects.filter(question=later).exists()


def test_another_collection_is_not_touched(collection, mallory, written) -> None:
    other = make_collection(collection.corpus, slug="other")
    exclude_worker(other, mallory, "Copied answers.", "rita", NOW)
    decide_collection(collection, NOW)
    assert beliefs(collection)[written.key][1] != "writer_left_out"
    assert written.key in released(collection)


def test_it_is_done_once_and_never_without_a_reason(collection, mallory) -> None:
    with pytest.raises(ActionError, match="Say why"):
        exclude_worker(collection, mallory, " ", "rita", NOW)
    made = exclude_worker(collection, mallory, "Copied.", "rita", NOW)
    with pytest.raises(ActionError, match="excluded already"):
        exclude_worker(collection, mallory, "Copied.", "grace", NOW)
    with pytest.raises(ActionError, match="Say why"):
        include_again(made, "", "rita", NOW)
    include_again(made, "Not copied.", "rita", NOW)
    with pytest.raises(ActionError, match="taken back already"):
        include_again(made, "Not copied.", "rita", NOW)
    assert Exclusion.objects.count() == 1
