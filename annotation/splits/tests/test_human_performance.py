"""New people read what is decided: once nothing more comes, and not before."""

import pytest

from annotation.dashboard.tests.making import make_answer, make_lease, make_question
from annotation.decisions.verdicts import decide_collection
from annotation.models import Verdict
from annotation.splits.human_performance import sample_questions
from collector.models import Collection, Stage
from collector.protocols.parameters import FOLDS
from tasks.lifecycle.publication import close_stage
from tasks.models import Lease, LeaseState, Question, UnitItem
from tasks.tests.making import NOW, make_collection, make_worker, stage_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def collection() -> Collection:
    """Return a collection with a kept test question, and one that one of three has answered."""
    made = make_collection(answer__redundancy=dict.fromkeys(FOLDS, 3))
    writing, answering = stage_of(made, "question"), stage_of(made, "answer")
    made.seeds.update(fold="test")
    for n_answers in (3, 1):
        question = make_question(writing)
        for _ in range(n_answers):
            make_answer(question, answering)
    close_stage(writing)
    decide_collection(made, NOW)
    assert sorted(outcomes()) == ["kept", "waiting"]
    return made


def outcomes() -> list[str]:
    return list(Verdict.objects.values_list("outcome", flat=True))


def sampled(collection: Collection) -> list[Question]:
    sample_questions(collection)
    items = UnitItem.objects.filter(unit__stage__name="human_performance")
    return [item.the_question() for item in items.select_related("question")]


def answering(collection: Collection) -> Stage:
    return stage_of(collection, "answer")


def test_a_stage_closed_with_a_place_open_keeps_nobody_waiting(collection: Collection) -> None:
    assert sampled(collection) == []
    close_stage(answering(collection))
    assert sampled(collection) == [Question.objects.get(verdict__outcome="kept")]


def test_the_work_of_people_in_a_closed_stage_is_waited_for(collection: Collection) -> None:
    lease = make_lease(answering(collection), make_worker("AADA"), state=LeaseState.LIVE)
    close_stage(answering(collection))
    assert sampled(collection) == []
    Lease.objects.filter(pk=lease.pk).update(state=LeaseState.RETURNED)
    assert len(sampled(collection)) == 1


def test_votes_that_came_last_are_decided_on_first(collection: Collection) -> None:
    waiting = Question.objects.get(verdict__outcome="waiting")
    for _ in range(2):
        make_answer(waiting, answering(collection))
    close_stage(answering(collection))
    assert sampled(collection) == []
    decide_collection(collection, NOW)
    assert len(sampled(collection)) == 2


def test_withdrawn_votes_that_nobody_decides_on_keep_nobody_waiting(
    collection: Collection,
) -> None:
    lost = make_question(stage_of(collection, "question"))
    worker = make_answer(lost, answering(collection)).worker
    assert worker is not None
    worker.withdrawn_at = NOW
    worker.save()
    close_stage(answering(collection))
    decide_collection(collection, NOW)
    assert not Verdict.objects.filter(question=lost).exists()
    assert len(sampled(collection)) == 1


def test_a_hit_for_more_people_in_a_closed_stage_counts_with_the_votes_it_has() -> None:
    share = {"train": 1, "dev": 3, "test": 3, "percent": 50, "people": 3}
    made = make_collection(answer__redundancy=share)
    question = make_question(stage_of(made, "question"))
    assert question.seed.fold == "train"
    given = make_answer(question, answering(made))
    assert given.submission is not None
    UnitItem.objects.create(unit=given.submission.lease.unit, position=0, question=question)
    decide_collection(made, NOW)
    assert Verdict.objects.get().reason == "waiting_for_more_people"
    assert decide_collection(made, NOW) == 0
    close_stage(answering(made))
    assert decide_collection(made, NOW) == 1
    assert outcomes() == ["kept"]
    assert decide_collection(made, NOW) == 0
