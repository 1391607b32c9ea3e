"""A move is stored once, by what its sender saw or by what happened since."""

from datetime import timedelta

import orjson
import pytest

from tasks.dialog import moves
from tasks.dialog.dialog_state import view_of
from tasks.dialog.moves import Move, StoredMove
from tasks.dialog.partner_view import change_of, page_state
from tasks.dialog.tests.making import make_dialogs, make_waiting, message
from tasks.dialog.tests.talking import SOON, pair
from tasks.models import Dialog, Turn
from tasks.tests.making import stage_of
from tasks.work.dialog_rules import Refused, Reply
from tasks.work.passages import section_of

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
    view = moves.make_now(student(dialog), Move(dialog.pk, message(), " Where? "), SOON).view
    assert view.dialogs[-1].state == student(dialog).dialogs[-1].state
    assert view.dialogs[-1].messages == student(dialog).dialogs[-1].messages
    view = moves.make_now(teacher(dialog), Move(dialog.pk, message(), found(dialog)), SOON).view
    assert view.dialogs[-1].state == teacher(dialog).dialogs[-1].state
    assert view.dialogs[-1].row.moved_at == SOON


def test_whoever_saw_less_than_has_happened_is_judged_by_what_has(dialog):
    early = teacher(dialog)
    moves.make_now(student(dialog), Move(dialog.pk, message(), "Where?"), SOON)
    view = moves.make_now(early, Move(dialog.pk, message(), found(dialog)), SOON).view
    assert view.dialogs[-1].state.completed == 1


def test_a_question_from_a_second_window_is_not_asked_beside_the_first(dialog):
    one, other = student(dialog), student(dialog)
    moves.make_now(one, Move(dialog.pk, message(), "Where?"), SOON)
    with pytest.raises(Refused, match="teacher's turn"):
        moves.make_now(other, Move(dialog.pk, message(), "When?"), SOON)
    assert [turn.question for turn in Turn.objects.all()] == ["Where?"]


def test_an_answer_that_came_too_late_ends_nothing(dialog):
    moves.make_now(student(dialog), Move(dialog.pk, message(), "Where?"), SOON)
    one, other = teacher(dialog), teacher(dialog)
    moves.make_now(one, Move(dialog.pk, message(), found(dialog)), SOON)
    with pytest.raises(Refused, match="student's turn"):
        moves.make_now(other, Move(dialog.pk, message(), NO_ANSWER), SOON)
    dialog.refresh_from_db()
    assert (dialog.state, dialog.ending) == ("talking", "")
    assert Turn.objects.get().continuation == "follow_up"


def test_what_is_sent_again_is_known_in_every_window(dialog):
    sent, other = message(), student(dialog)
    first = moves.make_now(student(dialog), Move(dialog.pk, sent, "Where?"), SOON).view
    assert moves.make_now(first, Move(dialog.pk, sent, "Where?"), SOON).view is first
    assert moves.make_now(other, Move(dialog.pk, sent, "Where?"), SOON).view.dialogs[-1].state.turns
    assert Turn.objects.count() == 1


def test_the_last_answer_ends_the_dialog_with_it(dialog):
    moves.make_now(student(dialog), Move(dialog.pk, message(), "Where?"), SOON)
    view = moves.make_now(teacher(dialog), Move(dialog.pk, message(), NO_ANSWER), SOON).view
    stored = Dialog.objects.get(pk=dialog.pk)
    assert view.dialogs[-1].state == teacher(dialog).dialogs[-1].state
    assert (stored.state, stored.ending, stored.ended_by) == ("over", "unanswerable", "")
    assert stored.ended_at == stored.moved_at == SOON


def test_whoever_is_overtaken_again_and_again_is_asked_to_look(dialog, monkeypatch):
    monkeypatch.setattr(moves, "store", lambda made: [False] * len(made))
    with pytest.raises(Refused, match="has just gone on"):
        moves.make_now(student(dialog), Move(dialog.pk, message(), "Where?"), SOON)
    assert not Turn.objects.exists()


def test_of_many_moves_in_one_commit_each_is_stored_or_refused_alone(stage, dialog):
    make_waiting(stage, "ARITA")
    other = pair(make_waiting(stage, "ASAM"))
    late = moves.judge(student(dialog), Move(dialog.pk, message(), "Late?"), SOON)
    moves.make_now(student(dialog), Move(dialog.pk, message(), "First?"), SOON)
    fits = moves.judge(student(other), Move(other.pk, message(), "Fits?"), SOON)
    last = moves.judge(teacher(dialog), Move(dialog.pk, message(), NO_ANSWER), SOON)
    assert moves.store([late, fits, last]) == [False, True, True]
    asked = Turn.objects.order_by("dialog").values_list("question", "continuation")
    assert list(asked) == [("First?", "dont"), ("Fits?", "")]
    assert set(Dialog.objects.values_list("state", "ending")) == {
        ("over", "unanswerable"),
        ("talking", ""),
    }


def test_a_partner_follows_the_next_move_and_looks_after_any_other(dialog):
    early = teacher(dialog)
    asked = moves.make_now(student(dialog), Move(dialog.pk, message(), "Where?"), SOON)
    seen = moves.follow(early, asked.stored)
    assert seen.dialogs[-1].state == teacher(dialog).dialogs[-1].state
    assert moves.follow(seen, asked.stored) is seen
    answered = moves.make_now(seen, Move(dialog.pk, message(), found(dialog)), SOON)
    assert moves.follow(early, answered.stored) is None


def test_a_move_that_another_process_tells_of_is_followed_as_if_it_was_made_here(dialog):
    view = teacher(dialog)
    for move in (Move(dialog.pk, message(), " Where? "), Move(dialog.pk, message(), found(dialog))):
        asks = isinstance(move.said, str)
        made = moves.make_now(student(dialog) if asks else teacher(dialog), move, SOON)
        told = orjson.loads(orjson.dumps(made.stored.as_json()))
        assert StoredMove.from_json(told) == made.stored
        view = moves.follow(view, StoredMove.from_json(told))
        assert view.dialogs[-1].state == teacher(dialog).dialogs[-1].state
        assert view.dialogs[-1].messages == teacher(dialog).dialogs[-1].messages


def test_whoever_has_just_said_something_is_there_however_long_nobody_looked(dialog):
    early, late = teacher(dialog), SOON + timedelta(minutes=5)
    assert not page_state(early, late)["dialog"]["partner_present"]
    asked = moves.make_now(student(dialog), Move(dialog.pk, message(), "Where?"), late)
    assert change_of(moves.follow(early, asked.stored), late)["dialog"]["partner_present"]
