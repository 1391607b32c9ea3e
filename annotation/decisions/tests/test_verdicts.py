"""Verdicts are decided by the votes and exclusions that stand when they are written."""

import threading
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import connection

from annotation.dashboard.tests.making import make_answer, make_question
from annotation.decisions import verdicts
from annotation.decisions.by_hand import exclude_worker
from annotation.decisions.verdicts import decide_collection
from annotation.models import Verdict
from tasks.models import Question
from tasks.tests.making import NOW, make_collection, make_worker, stage_of

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "marketplace"])
LONG_ENOUGH_SECONDS = 0.5


@pytest.fixture
def question() -> Question:
    """Return a question with one vote."""
    collection = make_collection()
    made = make_question(stage_of(collection, "question"), worker=make_worker("AWRITER"))
    make_answer(made, stage_of(collection, "answer"))
    return made


def decide_while(act: Callable[[], object], collection, monkeypatch) -> None:
    """Decide the collection; once the votes are read, somebody else acts and decides as well."""
    votes_on, threads = verdicts.votes_on, []

    def other() -> None:
        try:
            act()
            decide_collection(collection, NOW)
        finally:
            connection.close()

    def read(*of):
        votes = votes_on(*of)
        if not threads:
            threads.append(threading.Thread(target=other))
            threads[0].start()
            threads[0].join(LONG_ENOUGH_SECONDS)
        return votes

    monkeypatch.setattr(verdicts, "votes_on", read)
    decide_collection(collection, NOW)
    threads[0].join()


def test_a_decision_by_fewer_votes_is_not_written_over_one_by_more(question, monkeypatch):
    answers = stage_of(question.stage.collection, "answer")
    decide_while(lambda: make_answer(question, answers), question.stage.collection, monkeypatch)
    assert Verdict.objects.get(question=question).n_votes == 2


def test_a_question_excluded_meanwhile_is_not_kept_again(question, monkeypatch):
    collection = question.stage.collection
    decide_while(
        lambda: exclude_worker(collection, question.worker, "Copied.", "Rita", NOW),
        collection,
        monkeypatch,
    )
    decided = Verdict.objects.get(question=question)
    assert (decided.outcome, decided.reason) == ("dropped", "writer_left_out")


def test_votes_stand_in_the_order_in_which_they_were_stored_whatever_clocks_said(question):
    stage = stage_of(question.stage.collection, "answer")
    first, second = (make_answer(question, stage) for _ in range(2))
    corrected = make_answer(question, stage)
    type(corrected).objects.filter(pk=corrected.pk).update(
        corrected_by="Rita", submission=None, worker=None
    )
    type(first).objects.filter(pk=second.pk).update(created_at=NOW - timedelta(hours=1))
    ordered = question.answers.filter(stage=stage).order_by(*verdicts.IN_ORDER)
    assert [each.pk for each in ordered][1:] == [first.pk, second.pk, corrected.pk]
