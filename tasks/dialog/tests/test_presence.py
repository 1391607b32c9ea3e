"""Who is away, does not answer, or has left: their dialogs end, and nobody waits for them."""

from datetime import timedelta

import pytest
from django.db import connection

from tasks.dialog import maintenance as dialog_maintenance
from tasks.dialog import moves, pairing, presence, waiting_room
from tasks.dialog.hub import record_presence
from tasks.dialog.tests.making import make_dialogs, make_lease, make_talker, make_waiting
from tasks.dialog.tests.talking import SOON, FirstOfTwo, paid, pair, stay, talk
from tasks.models import LeaseState, Ticket, TicketState, Topic
from tasks.tests.making import NOW, make_posting, stage_of
from tasks.work import leases
from tasks.work.dialog_rules import Ending, Role

pytestmark = pytest.mark.django_db
MINUTE = timedelta(minutes=1)


@pytest.fixture
def stage():
    return stage_of(make_dialogs(3), "dialog")


@pytest.fixture
def dialog(stage):
    make_waiting(stage, "AADA")
    return pair(make_waiting(stage, "AGRACE"))


def test_who_does_not_answer_the_check_is_set_aside_and_the_other_waits_on(stage):
    ada, grace = make_waiting(stage, "AADA"), make_waiting(stage, "AGRACE")
    dialog = pairing.claim(ada, SOON, FirstOfTwo())
    presence.ready(dialog.pk, ada.pk, SOON)
    assert presence.end_absent(stage, SOON + timedelta(seconds=45)) == []
    late = SOON + MINUTE
    stay(ada, grace, now=late)
    done = dialog_maintenance.maintain_dialogs(stage, late, FirstOfTwo())
    assert (done["absent"], done["settled"]) == (2, 2)
    ada.refresh_from_db()
    grace.refresh_from_db()
    assert (ada.state, grace.state) == (TicketState.WAITING, TicketState.DONE)
    assert presence.seconds_waited(ada, late) == 70, "the check is waited for, too"
    assert Topic.objects.first().taken == 0


def test_a_sign_for_a_dialog_that_is_over_says_nothing_of_the_next(stage):
    ada, grace = make_waiting(stage, "AADA", "student"), make_waiting(stage, "AGRACE", "teacher")
    before = pairing.claim(ada, SOON, FirstOfTwo())
    leases.end(grace.lease, LeaseState.RETURNED, SOON)
    make_waiting(stage, "AMARY", "teacher", now=SOON)
    dialog_maintenance.maintain_dialogs(stage, SOON, FirstOfTwo())
    now = pairing.open_dialog(ada)
    assert now != before
    presence.ready(before.pk, ada.pk, SOON)
    ada.refresh_from_db()
    assert (ada.state, ada.ready) == (TicketState.CHECKING, False)
    presence.ready(now.pk, ada.pk, SOON)
    ada.refresh_from_db()
    assert ada.ready


def test_when_neither_answers_the_check_both_are_set_aside(stage):
    ada, grace = make_waiting(stage, "AADA"), make_waiting(stage, "AGRACE")
    pairing.claim(ada, SOON, FirstOfTwo())
    stay(ada, grace, now=SOON + MINUTE)
    dialog_maintenance.maintain_dialogs(stage, SOON + MINUTE, FirstOfTwo())
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
    dialog_maintenance.maintain_dialogs(dialog.stage, SOON + MINUTE, FirstOfTwo())
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
    ticket = waiting_room.arrive(again, SOON)
    ada.refresh_from_db()
    assert (ada.state, ticket.state) == (TicketState.DONE, TicketState.WAITING)
    assert waiting_room.arrive(again, SOON) == ticket


def test_nobody_is_let_in_without_a_role_without_time_or_without_money(stage):
    for roles, message_part in ((("student", "teacher"), "used up"), ((), "qualification")):
        worker = make_talker(stage.collection, f"A{len(roles)}", *roles)
        if not roles:
            worker.grants.all().delete()
        lease = make_lease(stage, worker)
        stage.collection.refresh_from_db()
        stage.collection.budget_cents = stage.collection.reserved_cents + 100
        stage.collection.save()
        with pytest.raises(waiting_room.NoRoom, match=message_part):
            waiting_room.arrive(lease, NOW)
        stage.collection.budget_cents = 100_000
        stage.collection.save()
    leases.end(lease, LeaseState.RETURNED, SOON)
    lease.refresh_from_db()
    with pytest.raises(waiting_room.NoRoom, match="over"):
        waiting_room.arrive(lease, NOW)
    assert not Ticket.objects.exists()


def test_a_round_looks_only_where_somebody_is_and_at_each_step_alone(dialog, monkeypatch, caplog):
    assert dialog_maintenance.stages_to_maintain() == [dialog.stage]
    talk(dialog, 1)
    moves.end(dialog.pk, Role.STUDENT, Ending.ENDED, SOON)

    def fail(*_):
        raise RuntimeError("one bad row")

    monkeypatch.setattr(waiting_room, "end_departed", fail)
    assert dialog_maintenance.maintain_dialogs(dialog.stage, SOON, FirstOfTwo())["settled"] == 2
    assert "returned failed" in caplog.text
    assert dialog_maintenance.stages_to_maintain() == []


def test_an_idle_round_asks_the_database_once(django_assert_num_queries):
    make_posting(stage_of(make_dialogs(1), "dialog"))
    with django_assert_num_queries(1):
        assert dialog_maintenance.stages_to_maintain() == []


def test_a_heartbeat_is_the_same_statements_however_many_are_there(dialog):
    tickets = [dialog.student_ticket_id, dialog.teacher_ticket_id]
    said = []

    def note(execute, sql, values, many, context):
        said.append(sql)
        return execute(sql, values, many, context)

    with connection.execute_wrapper(note):
        record_presence(tickets[:1])
        of_one = said.copy()
        said.clear()
        marks = record_presence(tickets)
    assert of_one == said
    assert [mark.partner_present for mark, _ in marks.values()] == [True, True]
