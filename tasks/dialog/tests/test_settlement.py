"""A dialog that is over becomes rows and money, once, and whoever was left goes on."""

from datetime import timedelta

import pytest

from tasks.dialog import maintenance as dialog_maintenance
from tasks.dialog import moves, pairing, presence, settlement
from tasks.dialog.dialog_state import view_of
from tasks.dialog.moves import Move
from tasks.dialog.tests.making import make_dialogs, make_waiting, message
from tasks.dialog.tests.talking import SOON, FirstOfTwo, ask, paid, pair, talk
from tasks.models import (
    Answer,
    Question,
    Ticket,
    TicketState,
    Topic,
    Turn,
)
from tasks.tests.making import NOW, stage_of
from tasks.work.dialog_rules import Ending, Refused, Reply, Role

pytestmark = pytest.mark.django_db
MINUTE = timedelta(minutes=1)


@pytest.fixture
def stage():
    return stage_of(make_dialogs(3), "dialog")


@pytest.fixture
def dialog(stage):
    make_waiting(stage, "AADA")
    return pair(make_waiting(stage, "AGRACE"))


def over(dialog, role=Role.STUDENT, ending=Ending.ENDED, now=SOON):
    assert settlement.settle(moves.end(dialog.pk, role, ending, now), now)
    dialog.refresh_from_db()
    return {
        Role.STUDENT: Ticket.objects.get(pk=dialog.student_ticket_id),
        Role.TEACHER: Ticket.objects.get(pk=dialog.teacher_ticket_id),
    }


def test_every_completed_turn_becomes_a_question_and_the_teachers_answer(dialog):
    talk(dialog, 3)
    ask(dialog)
    over(dialog)
    questions = Question.objects.order_by("position")
    assert [question.position for question in questions] == [0, 1, 2]
    assert questions[0].payload == {"dialog": 0, "turn": 0, "n_pairs": 3}
    assert {question.worker for question in questions} == {dialog.student}
    answer = Answer.objects.first()
    assert (answer.type, answer.worker, answer.writer) == ("span", dialog.teacher, dialog.student)
    [span] = answer.payload["spans"]
    assert span == {"document": "section", "start": 0, "end": 6, "text": "He was"}
    assert (answer.payload["continuation"], answer.payload["affirmation"]) == ("follow_up", "yes")


def test_it_is_settled_once(dialog):
    talk(dialog, 1)
    over(dialog)
    assert not settlement.settle(dialog, SOON)
    assert settlement.settle_all(dialog.stage, SOON) == []
    assert Question.objects.count() == 1


def test_what_goes_on_is_not_settled(dialog):
    assert not settlement.settle(dialog, SOON)


def test_a_short_dialog_is_paid_and_its_section_is_talked_about_again(dialog):
    talk(dialog, 2)
    assert Topic.objects.get(pk=dialog.topic_id).taken == 1
    tickets = over(dialog)
    assert paid(tickets[Role.TEACHER]) == {"turns": 5 + 6, "wait": 2}
    assert Topic.objects.get(pk=dialog.topic_id).taken == 0


def test_a_dialog_that_was_long_enough_keeps_its_section(dialog):
    talk(dialog, 3)
    over(dialog)
    assert Topic.objects.get(pk=dialog.topic_id).taken == 1


@pytest.mark.parametrize("ending", [Ending.ENDED, Ending.LEFT, Ending.REPORTED])
def test_who_ends_leaves_or_is_reported_is_done_and_who_was_left_waits_again(dialog, ending):
    tickets = over(dialog, Role.STUDENT, ending)
    states = {role: ticket.state for role, ticket in tickets.items()}
    done, waits = TicketState.DONE, TicketState.WAITING
    assert (
        states
        == {
            Ending.ENDED: {Role.STUDENT: done, Role.TEACHER: done},
            Ending.LEFT: {Role.STUDENT: done, Role.TEACHER: waits},
            Ending.REPORTED: {Role.STUDENT: waits, Role.TEACHER: done},
        }[ending]
    )


def test_who_was_left_is_the_first_to_be_paired_again_and_keeps_what_they_earned(dialog):
    talk(dialog, 3)
    mallory = make_waiting(dialog.stage, "AMALLORY", now=SOON)
    make_waiting(dialog.stage, "ARITA", now=SOON)
    tickets = over(dialog, Role.STUDENT, Ending.LEFT)
    survivor = tickets[Role.TEACHER]
    assert paid(survivor) == {"turns": 18}
    [again] = pairing.sweep(dialog.stage, SOON, FirstOfTwo())
    assert {again.student_ticket_id, again.teacher_ticket_id} == {survivor.pk, mallory.pk}
    assert again.topic_id != dialog.topic_id


def test_the_message_sent_again_after_the_end_is_known(dialog):
    talk(dialog, 1)
    last = Turn.objects.get()
    over(dialog)
    reply = Reply(None, None, "dont", "no")
    teacher = view_of(dialog.teacher_ticket_id)
    view = moves.make_now(teacher, Move(dialog.pk, last.answer_message, reply), SOON).view
    assert view.dialogs[-1].state.completed == 1
    late = Move(dialog.pk, message(), "And then?")
    with pytest.raises(Refused, match="over"):
        moves.make_now(view_of(dialog.student_ticket_id), late, SOON)


def test_a_wait_is_paid_by_the_second_up_to_its_limit(stage):
    ada = make_waiting(stage, "AADA")
    presence.seen([ada.pk], NOW + 4 * MINUTE)
    assert settlement.finish(ada, NOW + 4 * MINUTE)
    assert paid(ada) == {"wait": 60}
    grace = make_waiting(stage, "AGRACE")
    presence.seen([grace.pk], NOW + 60 * MINUTE)
    assert settlement.finish(grace, NOW + 60 * MINUTE)
    assert paid(grace) == {"wait": 225}
    assert not settlement.finish(grace, NOW + 61 * MINUTE)
    stage.collection.refresh_from_db()
    assert stage.collection.reserved_cents == 60, "the two places alone"


def test_nobody_is_paid_for_a_wait_while_they_are_away(stage):
    ada = make_waiting(stage, "AADA")
    presence.disconnected(ada.pk, NOW + MINUTE)
    presence.connected(ada.pk, NOW + 5 * MINUTE)
    ada.refresh_from_db()
    assert presence.seconds_waited(ada, NOW + 6 * MINUTE) == 120
    presence.disconnected(ada.pk, NOW + 6 * MINUTE)
    dialog_maintenance.maintain_dialogs(stage, NOW + 11 * MINUTE, FirstOfTwo())
    ada.refresh_from_db()
    assert ada.state == TicketState.WAITING
    dialog_maintenance.maintain_dialogs(stage, NOW + 13 * MINUTE, FirstOfTwo())
    ada.refresh_from_db()
    assert (ada.state, paid(ada)) == (TicketState.DONE, {"wait": 30})


def test_a_second_tab_does_not_stop_the_clock(stage):
    ada = make_waiting(stage, "AADA")
    presence.connected(ada.pk, NOW + MINUTE)
    presence.disconnected(ada.pk, NOW + 2 * MINUTE)
    presence.seen([ada.pk], NOW + 3 * MINUTE)
    ada.refresh_from_db()
    assert presence.seconds_waited(ada, NOW + 3 * MINUTE) == 180


def test_whoever_has_waited_long_enough_is_done(stage):
    ada = make_waiting(stage, "AADA")
    late = NOW + 15 * MINUTE
    presence.seen([ada.pk], late - MINUTE)
    assert presence.waited_enough(stage, table(stage), late - MINUTE) == []
    presence.seen([ada.pk], late)
    assert dialog_maintenance.maintain_dialogs(stage, late, FirstOfTwo())["waited enough"] == 1
    assert Ticket.objects.get().state == TicketState.DONE
    assert Ticket.objects.get().lease.draft == settlement.DONE


def table(stage):
    from collector.protocols.creation import parameters_of

    return parameters_of(stage.collection).stages()["dialog"]


def test_nobody_waits_for_what_cannot_come(stage):
    ada = make_waiting(stage, "AADA")
    Topic.objects.update(wanted=0)
    dialog_maintenance.maintain_dialogs(stage, SOON, FirstOfTwo())
    ada.refresh_from_db()
    assert ada.state == TicketState.DONE
