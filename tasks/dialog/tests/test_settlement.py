"""A dialog that is over becomes rows and money, once, and whoever was left goes on."""

from datetime import timedelta

import pytest

from tasks import leases
from tasks.dialog import arrival, departure, pairing, presence, rounds, settlement, turns, waiting
from tasks.dialog.rules import Ending, Refused, Reply, Role
from tasks.dialog.tests.making import make_dialogs, make_lease, make_talker, make_waiting, message
from tasks.dialog.tests.talking import SOON, ask, pair, stay, talk
from tasks.models import (
    Answer,
    LeaseState,
    Payment,
    Question,
    Ticket,
    TicketState,
    Topic,
    Turn,
)
from tasks.tests.making import NOW, make_posting, stage_of

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
    assert settlement.settle(turns.end(dialog.pk, role, ending, now).row, now)
    dialog.refresh_from_db()
    return {
        Role.STUDENT: Ticket.objects.get(pk=dialog.student_ticket_id),
        Role.TEACHER: Ticket.objects.get(pk=dialog.teacher_ticket_id),
    }


def paid(ticket):
    rows = Payment.objects.filter(lease=ticket.lease).order_by("key")
    return {row.key.partition(":")[0]: row.amount_cents for row in rows}


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


class FirstOfTwo:
    """Decides as a coin would that always falls on one side."""

    def choice(self, options):
        return options[0]


def test_the_message_sent_again_after_the_end_is_known(dialog):
    talk(dialog, 1)
    last = Turn.objects.get()
    over(dialog)
    reply = Reply(None, None, "dont", "no")
    moved = turns.reply(dialog.pk, dialog.teacher_ticket, last.answer_message, reply, SOON)
    assert moved.state.completed == 1
    with pytest.raises(Refused, match="over"):
        turns.ask(dialog.pk, dialog.student_ticket, message(), "And then?", SOON)


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
    assert waiting.seconds_waited(ada, NOW + 6 * MINUTE) == 120
    presence.disconnected(ada.pk, NOW + 6 * MINUTE)
    rounds.look_after(stage, NOW + 11 * MINUTE, None)
    ada.refresh_from_db()
    assert ada.state == TicketState.WAITING
    rounds.look_after(stage, NOW + 13 * MINUTE, None)
    ada.refresh_from_db()
    assert (ada.state, paid(ada)) == (TicketState.DONE, {"wait": 30})


def test_a_second_tab_does_not_stop_the_clock(stage):
    ada = make_waiting(stage, "AADA")
    presence.connected(ada.pk, NOW + MINUTE)
    presence.disconnected(ada.pk, NOW + 2 * MINUTE)
    presence.seen([ada.pk], NOW + 3 * MINUTE)
    ada.refresh_from_db()
    assert waiting.seconds_waited(ada, NOW + 3 * MINUTE) == 180


def test_whoever_has_waited_long_enough_is_done(stage):
    ada = make_waiting(stage, "AADA")
    late = NOW + 15 * MINUTE
    presence.seen([ada.pk], late - MINUTE)
    assert waiting.over(stage, table(stage), late - MINUTE) == []
    presence.seen([ada.pk], late)
    assert rounds.look_after(stage, late, None)["waited enough"] == 1
    assert Ticket.objects.get().state == TicketState.DONE
    assert Ticket.objects.get().lease.draft == settlement.DONE


def table(stage):
    from collector.creation import parameters_of

    return parameters_of(stage.collection).stages()["dialog"]


def test_nobody_waits_for_what_cannot_come(stage):
    ada = make_waiting(stage, "AADA")
    Topic.objects.update(wanted=0)
    rounds.look_after(stage, SOON, None)
    ada.refresh_from_db()
    assert ada.state == TicketState.DONE


def test_who_does_not_answer_the_check_is_set_aside_and_the_other_waits_on(stage):
    ada, grace = make_waiting(stage, "AADA"), make_waiting(stage, "AGRACE")
    pairing.claim(ada, SOON, FirstOfTwo())
    presence.ready(ada.pk, SOON)
    assert presence.end_absent(stage, SOON + timedelta(seconds=45)) == []
    late = SOON + MINUTE
    stay(ada, grace, now=late)
    done = rounds.look_after(stage, late, None)
    assert (done["absent"], done["settled"]) == (2, 2)
    ada.refresh_from_db()
    grace.refresh_from_db()
    assert (ada.state, grace.state) == (TicketState.WAITING, TicketState.DONE)
    assert waiting.seconds_waited(ada, late) == 70, "the check is waited for, too"
    assert Topic.objects.first().taken == 0


def test_when_neither_answers_the_check_both_are_set_aside(stage):
    ada, grace = make_waiting(stage, "AADA"), make_waiting(stage, "AGRACE")
    pairing.claim(ada, SOON, FirstOfTwo())
    stay(ada, grace, now=SOON + MINUTE)
    rounds.look_after(stage, SOON + MINUTE, None)
    assert set(Ticket.objects.values_list("state", flat=True)) == {"done"}


def test_a_short_cut_ends_nothing_and_a_long_one_does(dialog):
    presence.disconnected(dialog.student_ticket_id, SOON)
    presence.seen([dialog.teacher_ticket_id], SOON + 2 * MINUTE)
    assert presence.end_absent(dialog.stage, SOON + MINUTE) == []
    [ended] = presence.end_absent(dialog.stage, SOON + MINUTE + timedelta(seconds=1))
    assert (ended.ending, ended.ended_by) == (Ending.LEFT, Role.STUDENT)


def test_a_socket_of_a_process_that_died_is_no_presence(dialog):
    stay(dialog.teacher_ticket, now=SOON + 2 * MINUTE)
    [ended] = presence.end_absent(dialog.stage, SOON + 2 * MINUTE)
    assert ended.ended_by == Role.STUDENT


def test_whoever_is_there_and_does_not_move_ends_the_dialog(dialog):
    for minutes, expected in ((6, []), (7, [dialog])):
        now = SOON + minutes * MINUTE
        stay(dialog.student_ticket, dialog.teacher_ticket, now=now)
        assert presence.end_absent(dialog.stage, now) == expected
    dialog.refresh_from_db()
    assert (dialog.ending, dialog.ended_by) == (Ending.LEFT, Role.STUDENT)


def test_a_hit_that_was_returned_or_ran_out_of_time_ends_its_dialog_and_its_wait(dialog):
    talk(dialog, 3)
    rita = make_waiting(dialog.stage, "ARITA", now=SOON)
    leases.end(dialog.student_ticket.lease, LeaseState.RETURNED, SOON)
    leases.end(rita.lease, LeaseState.EXPIRED, SOON)
    presence.seen([rita.pk], SOON + MINUTE)
    rounds.look_after(dialog.stage, SOON + MINUTE, None)
    student = Ticket.objects.get(pk=dialog.student_ticket_id)
    rita.refresh_from_db()
    assert (student.state, rita.state) == (TicketState.DONE, TicketState.DONE)
    assert paid(student) == {"turns": 18, "wait": 2}
    assert paid(rita) == {"wait": 15}
    assert Ticket.objects.get(pk=dialog.teacher_ticket_id).state == TicketState.WAITING


def test_whoever_returned_one_hit_can_come_with_another(stage):
    ada = make_waiting(stage, "AADA")
    leases.end(ada.lease, LeaseState.RETURNED, SOON)
    again = make_lease(stage, ada.worker, SOON)
    ticket = arrival.arrive(again, SOON)
    ada.refresh_from_db()
    assert (ada.state, ticket.state) == (TicketState.DONE, TicketState.WAITING)
    assert arrival.arrive(again, SOON) == ticket


def test_nobody_is_let_in_without_a_role_without_time_or_without_money(stage):
    for roles, message_part in ((("student", "teacher"), "used up"), ((), "qualification")):
        worker = make_talker(stage.collection, f"A{len(roles)}", *roles)
        if not roles:
            worker.grants.all().delete()
        lease = make_lease(stage, worker)
        stage.collection.refresh_from_db()
        stage.collection.budget_cents = stage.collection.reserved_cents + 100
        stage.collection.save()
        with pytest.raises(arrival.NoRoom, match=message_part):
            arrival.arrive(lease, NOW)
        stage.collection.budget_cents = 100_000
        stage.collection.save()
    leases.end(lease, LeaseState.RETURNED, SOON)
    lease.refresh_from_db()
    with pytest.raises(arrival.NoRoom, match="over"):
        arrival.arrive(lease, NOW)
    assert not Ticket.objects.exists()


def test_a_round_looks_only_where_somebody_is_and_at_each_step_alone(dialog, monkeypatch, caplog):
    assert rounds.stages_to_look_at() == [dialog.stage]
    talk(dialog, 1)
    turns.end(dialog.pk, Role.STUDENT, Ending.ENDED, SOON)

    def fail(*_):
        raise RuntimeError("one bad row")

    monkeypatch.setattr(departure, "end_departed", fail)
    assert rounds.look_after(dialog.stage, SOON, None)["settled"] == 2
    assert "returned failed" in caplog.text
    assert rounds.stages_to_look_at() == []


def test_an_idle_round_asks_the_database_once(django_assert_num_queries):
    make_posting(stage_of(make_dialogs(1), "dialog"))
    with django_assert_num_queries(1):
        assert rounds.stages_to_look_at() == []
