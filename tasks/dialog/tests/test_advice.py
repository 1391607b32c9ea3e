"""A student is told of a question that what they read seems to answer; it stands all the same."""

import orjson
import pytest
from django.test import Client

from tasks.dialog.tests.making import make_dialogs
from tasks.models import Payment, ReaderHint, Turn
from tasks.people.lease_context import lease_token
from tasks.tests.making import stage_of

pytestmark = pytest.mark.django_db(transaction=True)
# The article's first paragraph, which the student reads: "Person 0 is a songwriter."
READ = "What kind of writer was he?"


@pytest.fixture
def stage():
    """Return the dialogs of a collection with a reader that speaks up at the least suspicion."""
    return stage_of(make_dialogs(3, checks__reader_confidence=0.01), "dialog")


def advice(line, message):
    """Return what the page is told of a message that was sent."""
    answer = Client(HTTP_HOST="localhost").post(
        "/hit/advice",
        orjson.dumps({"message": message}),
        content_type="application/json",
        headers={"Authorization": f"Bearer {lease_token(line.lease)}"},
    )
    assert answer.status_code == 200
    return answer.json()["hints"]


def ask(line, text):
    """Ask a question and return the message that did."""
    message = line.say(type="ask", dialog=line.state["dialog"]["id"], text=text)
    assert line.reply_to(message)["type"] == "taken"
    return message


def test_what_was_read_already_is_told_of_after_it_was_asked_and_counted_once(pair):
    student, teacher = pair
    message = ask(student, READ)
    # The partner has it before anything is said of it.
    teacher.wait_for("talking", "teacher", 1)
    for _ in range(2):
        [said] = advice(student, message)
        assert (said["index"], said["field"]) == (0, "question")
        assert "“songwriter”" in said["message"]
        assert "Your question stands" in said["message"]
    [told] = ReaderHint.objects.all()
    assert (told.lease, told.place, told.kept) == (student.lease, 0, True)
    assert Turn.objects.get().question == READ
    assert not Payment.objects.exists()


def test_nobody_is_told_of_what_another_asked_nor_of_what_was_never_sent(pair):
    student, teacher = pair
    message = ask(student, READ)
    assert advice(teacher, message) == []
    for unknown in ("0b28a2bc-4c3d-4c31-9d0c-0b9d6a1d6f3e", "none", 7, None):
        assert advice(student, unknown) == []
    assert not ReaderHint.objects.exists()


def test_a_question_that_nothing_at_hand_answers_is_left_in_peace(pair):
    assert advice(pair[0], ask(pair[0], "Why?")) == []
