"""Tests of how a submission is laid out for whoever decides about it."""

from uuid import uuid4

import pytest
from django.test import Client

from annotation.dashboard.questions.reading import sheets_of
from annotation.dashboard.tests.making import make_submission
from collector.models import Seed
from tasks.dialog import moves, settlement
from tasks.dialog.tests.making import make_dialogs, make_waiting
from tasks.dialog.tests.talking import SOON, pair, talk
from tasks.models import Answer, Question, Submission
from tasks.tests.making import make_worker, stage_of
from tasks.work.dialog_rules import Ending, Role

pytestmark = pytest.mark.django_db


def test_of_a_dialog_both_partners_work_is_read_whole(rita: Client) -> None:
    stage = stage_of(make_dialogs(2), "dialog")
    make_waiting(stage, "AADA")
    dialog = pair(make_waiting(stage, "AGRACE"))
    talk(dialog, 3)
    settlement.settle(moves.end(dialog.pk, Role.STUDENT, Ending.ENDED, SOON), SOON)
    for ticket in (dialog.student_ticket, dialog.teacher_ticket):
        submission = Submission.objects.create(
            lease=ticket.lease, raw={"dialog": {"1": True}}, receipt=uuid4().hex, received_at=SOON
        )
        [sheet] = sheets_of(submission, stage.collection.corpus)
        assert [(row.number, row.answer.text) for row in sheet.answers] == [
            (number, "He was") for number in (1, 2, 3)
        ]
        where = f"/collections/talk/money/work/{ticket.lease.session_id}/"
        page = rita.get(where).content.decode()
        assert page.count("What did he do next?") == 3
        assert page.count('class="passage"') == 1
        assert "True" not in page


def test_answers_about_one_passage_stand_beside_it_once(rita: Client) -> None:
    collection = make_dialogs(2)
    stage = stage_of(collection, "validation")
    writer, worker = make_worker("AADA"), make_worker("AGRACE")
    submission = make_submission(stage, worker)
    for seed in collection.seeds.order_by("position"):
        for position in range(2):
            make_vote(seed, position, submission, writer)
    page = rita.get(f"/collections/talk/money/work/{submission.lease.session_id}/")
    text = page.content.decode()
    assert text.count('class="passage"') == 2
    assert text.count("mark-answer") == 2
    assert "<sup>1</sup><sup>2</sup>" in text
    assert "<sup>3</sup><sup>4</sup>" in text


def make_vote(seed: Seed, position: int, submission: Submission, writer: object) -> None:
    """Let the submission answer a question about the seed's section with its first two words."""
    stage = submission.lease.unit.stage
    asked = Question.objects.create(
        stage=stage_of(seed.collection, "dialog"),
        position=position,
        seed=seed,
        worker=writer,
        key=uuid4().hex,
        text="Where was he born?",
        payload={},
        created_at=SOON,
    )
    Answer.objects.create(
        question=asked,
        stage=stage,
        submission=submission,
        worker=submission.lease.worker,
        writer=writer,
        type="span",
        payload={"spans": [{"document": "section", "start": 0, "end": 6, "text": "He was"}]},
        created_at=SOON,
    )
