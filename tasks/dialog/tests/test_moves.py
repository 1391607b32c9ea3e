"""A move is stored once, by what its sender saw or by what happened since."""

import pytest

from tasks.dialog import moves
from tasks.dialog.dialog_state import view_of
from tasks.dialog.rules import Refused, Reply
from tasks.dialog.sections import section_of
from tasks.dialog.tests.making import make_dialogs, make_waiting, message
from tasks.dialog.tests.talking import SOON, pair
from tasks.models import Dialog, Turn
from tasks.tests.making import stage_of

pytestmark = pytest.mark.django_db
NO_ANSWER = Reply(None, None, "dont", "neither")


@pytest.fixture
def stage():
    return stage_of(make_dialogs(2, dialog__max_unanswerable=1), "dialog")


@pytest.fixture
def dialog(stage):
    make_waiting(stage, "AADA")
    return pair(make_waiting(stage, "AGRACE"))


def student(dialog):
    return view_of(dialog.student_ticket_id)


def teacher(dialog):
    return view_of(dialog.teacher_ticket_id)


def found(dialog):
    token = section_of(dialog.topic.seed_id).tokens[0]
    return Reply(token[0], token[1], "follow_up", "yes")


def test_a_move_returns_what_a_look_would_show(dialog):
    view = moves.ask(student(dialog), dialog.pk, message(), " Where? ", SOON)
    assert view.dialogs[-1].state == student(dialog).dialogs[-1].state
    assert view.dialogs[-1].messages == student(dialog).dialogs[-1].messages
    view = moves.answer(teacher(dialog), dialog.pk, message(), found(dialog), SOON)
    assert view.dialogs[-1].state == teacher(dialog).dialogs[-1].state
    assert view.dialogs[-1].row.moved_at == SOON


def test_whoever_saw_less_than_has_happened_is_judged_by_what_has(dialog):
    early = teacher(dialog)
    moves.ask(student(dialog), dialog.pk, message(), "Where?", SOON)
    view = moves.answer(early, dialog.pk, message(), found(dialog), SOON)
    assert view.dialogs[-1].state.completed == 1


def test_a_question_from_a_second_window_is_not_asked_beside_the_first(dialog):
    one, other = student(dialog), student(dialog)
    moves.ask(one, dialog.pk, message(), "Where?", SOON)
    with pytest.raises(Refused, match="teacher's turn"):
        moves.ask(other, dialog.pk, message(), "When?", SOON)
    assert [turn.question for turn in Turn.objects.all()] == ["Where?"]


def test_an_answer_that_came_too_late_ends_nothing(dialog):
    moves.ask(student(dialog), dialog.pk, message(), "Where?", SOON)
    one, other = teacher(dialog), teacher(dialog)
    moves.answer(one, dialog.pk, message(), found(dialog), SOON)
    with pytest.raises(Refused, match="student's turn"):
        moves.answer(other, dialog.pk, message(), NO_ANSWER, SOON)
    dialog.refresh_from_db()
    assert (dialog.state, dialog.ending) == ("talking", "")
    assert Turn.objects.get().continuation == "follow_up"


def test_what_is_sent_again_is_known_in_every_window(dialog):
    sent, other = message(), student(dialog)
    first = moves.ask(student(dialog), dialog.pk, sent, "Where?", SOON)
    assert moves.ask(first, dialog.pk, sent, "Where?", SOON) is first
    assert moves.ask(other, dialog.pk, sent, "Where?", SOON).dialogs[-1].state.turns
    assert Turn.objects.count() == 1


def test_the_last_answer_ends_the_dialog_with_it(dialog):
    moves.ask(student(dialog), dialog.pk, message(), "Where?", SOON)
    view = moves.answer(teacher(dialog), dialog.pk, message(), NO_ANSWER, SOON)
    stored = Dialog.objects.get(pk=dialog.pk)
    assert view.dialogs[-1].state == teacher(dialog).dialogs[-1].state
    assert (stored.state, stored.ending, stored.ended_by) == ("over", "unanswerable", "")
    assert stored.ended_at == stored.moved_at == SOON


def test_whoever_is_overtaken_again_and_again_is_asked_to_look(dialog, monkeypatch):
    monkeypatch.setattr(moves, "_store", lambda *_: False)
    with pytest.raises(Refused, match="has just gone on"):
        moves.ask(student(dialog), dialog.pk, message(), "Where?", SOON)
    assert not Turn.objects.exists()
