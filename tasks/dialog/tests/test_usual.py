"""How long a dialog usually is, is told of people's dialogs alone, and of enough of them."""

import pytest

from tasks.dialog.partner_view import _usual
from tasks.dialog.tests.making import NOW, make_dialogs, make_waiting, message
from tasks.models import Dialog, DialogState, Topic, Turn
from tasks.tests.making import stage_of
from tasks.work.dialog_rules import Ending

pytestmark = pytest.mark.django_db


def talk(stage, number, topic):
    """Store a dialog of three answered questions between two new people."""
    student = make_waiting(stage, f"AS{number}", "student")
    teacher = make_waiting(stage, f"AT{number}", "teacher")
    row = Dialog.objects.create(
        stage=stage,
        topic=topic,
        ordinal=number,
        student_ticket=student,
        teacher_ticket=teacher,
        student_id=student.worker_id,
        teacher_id=teacher.worker_id,
        began_at=NOW,
        moved_at=NOW,
        state=DialogState.OVER,
        ending=Ending.ENDED,
        ended_at=NOW,
    )
    for position in range(3):
        Turn.objects.create(
            dialog=row,
            number=position,
            question="Why?",
            question_message=message(),
            asked_at=NOW,
            continuation="maybe",
            affirmation="neither",
            answer_message=message(),
            answered_at=NOW,
        )
    return row


def test_until_ten_people_have_talked_nothing_is_said_of_a_usual_dialog():
    stage = stage_of(make_dialogs(sections=6), "dialog")
    topic = Topic.objects.filter(stage=stage).first()
    rows = [talk(stage, number, topic) for number in range(5)]
    assert _usual(stage.pk, NOW) == 3
    robot = rows[0].student
    robot.synthetic = True
    robot.save()
    assert _usual(stage.pk, NOW) is None
