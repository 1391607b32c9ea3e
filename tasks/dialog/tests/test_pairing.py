"""Whoever can be paired is, once, with somebody new, about something new to both."""

import random
from datetime import timedelta
from itertools import pairwise

import pytest
from django.db import IntegrityError, connection, transaction

from tasks.dialog import pairing, presence
from tasks.dialog.tests.making import make_dialogs, make_waiting
from tasks.models import Dialog, Exposure, PartnerReport, Ticket, TicketState, Topic
from tasks.tests.making import NOW, stage_of

pytestmark = pytest.mark.django_db
SOON = NOW + timedelta(seconds=20)
RNG = random.Random(3)


@pytest.fixture
def stage():
    return stage_of(make_dialogs(3), "dialog")


def states():
    return sorted(Ticket.objects.values_list("state", flat=True))


def test_two_who_wait_are_brought_together_about_the_first_section(stage):
    ada, grace = make_waiting(stage, "AADA"), make_waiting(stage, "AGRACE")
    dialog = pairing.claim(grace, SOON, RNG)
    assert {dialog.student_ticket_id, dialog.teacher_ticket_id} == {ada.pk, grace.pk}
    assert (dialog.topic, dialog.ordinal) == (Topic.objects.first(), 0)
    assert states() == ["checking", "checking"]
    assert Exposure.objects.filter(seed=dialog.topic.seed, kind="dialog").count() == 2
    ada.refresh_from_db()
    assert ada.waited_seconds == 20
    assert pairing.claim(ada, SOON, RNG) == dialog


def test_nobody_is_paired_alone_or_with_somebody_who_is_away(stage):
    ada, grace = make_waiting(stage, "AADA"), make_waiting(stage, "AGRACE")
    presence.disconnected(ada.pk, NOW)
    assert pairing.claim(grace, SOON, RNG) is None
    assert pairing.claim(ada, SOON, RNG) is None
    presence.connected(ada.pk, NOW)
    late = NOW + timedelta(minutes=1)
    presence.seen([grace.pk], late)
    assert pairing.claim(grace, late, RNG) is None, "nobody has heard of Ada for a minute"
    assert states() == ["waiting", "waiting"]


def test_each_gets_the_role_that_they_qualify_for(stage):
    ada = make_waiting(stage, "AADA", "student")
    make_waiting(stage, "AMALLORY", "student")
    grace = make_waiting(stage, "AGRACE", "teacher")
    dialog = pairing.claim(grace, SOON, RNG)
    assert (dialog.student_ticket, dialog.teacher_ticket) == (ada, grace)


def test_a_fair_coin_decides_where_both_can_do_both():
    teachers = set()
    stage = stage_of(make_dialogs(12), "dialog")
    for number in range(12):
        first = make_waiting(stage, f"A{number}")
        dialog = pairing.claim(make_waiting(stage, f"B{number}"), SOON, RNG)
        teachers.add(dialog.teacher_ticket_id == first.pk)
    assert teachers == {True, False}


def test_whoever_came_first_is_first(stage):
    ada, grace = make_waiting(stage, "AADA"), make_waiting(stage, "AGRACE")
    mallory = make_waiting(stage, "AMALLORY")
    [dialog] = pairing.sweep(stage, SOON, RNG)
    assert {dialog.student_ticket_id, dialog.teacher_ticket_id} == {ada.pk, grace.pk}
    mallory.refresh_from_db()
    assert mallory.state == TicketState.WAITING


def test_a_sweep_pairs_everybody_who_was_missed():
    stage = stage_of(make_dialogs(8), "dialog")
    for number in range(9):
        make_waiting(stage, f"A{number}")
    assert len(pairing.sweep(stage, SOON, RNG)) == 4
    assert states() == ["checking"] * 8 + ["waiting"]
    assert pairing.sweep(stage, SOON, RNG) == []


def test_a_sweep_finds_a_partner_for_those_whose_plan_fails(stage):
    ada, grace = make_waiting(stage, "AADA"), make_waiting(stage, "AGRACE")
    mallory, rita = make_waiting(stage, "AMALLORY"), make_waiting(stage, "ARITA")
    first, second, third = Topic.objects.all()
    Topic.objects.filter(pk=third.pk).update(wanted=0)
    for ticket, topic in ((ada, first), (grace, second), (mallory, second), (rita, first)):
        Exposure.objects.create(worker=ticket.worker, seed=topic.seed, kind="dialog", at=NOW)
    pairs = {
        frozenset((dialog.student_ticket_id, dialog.teacher_ticket_id))
        for dialog in pairing.sweep(stage, SOON, RNG)
    }
    assert pairs == {frozenset((ada.pk, rita.pk)), frozenset((grace.pk, mallory.pk))}


def test_nobody_meets_a_section_that_they_have_seen_in_any_role(stage):
    ada, grace = make_waiting(stage, "AADA"), make_waiting(stage, "AGRACE")
    first, second, third = Topic.objects.all()
    Exposure.objects.create(worker=ada.worker, seed=first.seed, kind="validation", at=NOW)
    Exposure.objects.create(worker=grace.worker, seed=second.seed, kind="dialog", at=NOW)
    assert pairing.claim(ada, SOON, RNG).topic == third


def test_a_section_that_one_was_shown_while_they_were_looked_for_is_not_begun(stage):
    ada, grace = make_waiting(stage, "AADA"), make_waiting(stage, "AGRACE")
    topic = Topic.objects.first()
    Exposure.objects.create(worker=grace.worker, seed=topic.seed, kind="validation", at=NOW)
    with pytest.raises(pairing.NotNow), transaction.atomic():
        pairing.begin_dialogs(stage, [((ada, grace), topic, 0)], SOON, RNG)
    assert states() == ["waiting", "waiting"]
    assert not Dialog.objects.exists()


def test_those_who_have_nothing_new_to_both_wait_for_others(stage):
    ada, grace = make_waiting(stage, "AADA"), make_waiting(stage, "AGRACE")
    for topic in Topic.objects.all():
        Exposure.objects.create(worker=ada.worker, seed=topic.seed, kind="dialog", at=NOW)
    assert pairing.claim(grace, SOON, RNG) is None
    mallory = make_waiting(stage, "AMALLORY")
    assert pairing.claim(mallory, SOON, RNG).topic == Topic.objects.first()
    assert states() == ["checking", "checking", "waiting"]


@pytest.mark.parametrize("reported", [True, False])
def test_nobody_meets_again_whom_they_reported_or_who_reported_them(stage, reported):
    ada, grace = make_waiting(stage, "AADA"), make_waiting(stage, "AGRACE")
    dialog = pairing.claim(grace, SOON, RNG)
    pair = (ada.worker, grace.worker) if reported else (grace.worker, ada.worker)
    PartnerReport.objects.create(
        dialog=dialog, reporter=pair[0], reported=pair[1], reason="rude", at=NOW
    )
    Dialog.objects.update(state="over", ending="reported", settled=True)
    Ticket.objects.update(state="waiting")
    assert pairing.claim(grace, SOON, RNG) is None


def test_a_section_is_talked_about_as_often_as_is_wanted(stage):
    Topic.objects.exclude(pk=Topic.objects.first().pk).update(wanted=0)
    for person in ("AADA", "AGRACE", "AMALLORY", "ARITA"):
        make_waiting(stage, person)
    assert len(pairing.sweep(stage, SOON, RNG)) == 1


def test_many_pairs_are_begun_in_as_many_statements_as_two(django_assert_max_num_queries):
    stage = stage_of(make_dialogs(12), "dialog")
    for number in range(24):
        make_waiting(stage, f"A{number}")
    with django_assert_max_num_queries(9 if connection.vendor == "postgresql" else 14):
        assert len(pairing.sweep(stage, SOON, RNG)) == 12


def test_who_comes_is_paired_in_two_statements(stage, django_assert_max_num_queries):
    make_waiting(stage, "AADA")
    grace = make_waiting(stage, "AGRACE")
    grace.stage = stage
    # The transaction begins and ends with one more each; SQLite does what begins a dialog apart.
    with django_assert_max_num_queries(4 if connection.vendor == "postgresql" else 9):
        assert pairing.claim(grace, SOON, RNG)


# Leases and tickets of people that there are not: gone before the database would look for these.
MANY_LEASES = """
INSERT INTO tasks_lease
SELECT (jsonb_populate_record(lease, jsonb_build_object('id', 10000 + n, 'unit_id', 10000 + n,
    'session_id', 10000 + n, 'worker_id', 'w' || n))).*
FROM tasks_lease lease, generate_series(1, 4000) n
"""
MANY_TICKETS = """
INSERT INTO tasks_ticket (lease_id, stage_id, worker_id, can_ask, can_teach, state, waiting_since,
    waited_seconds, connections, seen_at, ready, reserved_cents)
SELECT 10000 + n, stage_id, 'w' || n, TRUE, TRUE,
    CASE WHEN n <= %s THEN 'waiting' ELSE 'done' END, waiting_since, 0, 1, %s, FALSE, 0
FROM tasks_ticket, generate_series(1, 4000) n
"""


@pytest.mark.parametrize("n_waiting", [0, 1000])
def test_who_looks_for_a_partner_reads_only_those_who_wait(stage, n_waiting):
    if connection.vendor != "postgresql":
        pytest.skip("SQLite plans without statistics")
    ada = make_waiting(stage, "AADA")
    values = dict.fromkeys(("asks", "teaches"), True) | {"worker": ada.worker_id, "since": NOW}
    values |= {"ticket": ada.pk, "stage": stage.pk, "after": 0}
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("UPDATE tasks_ticket SET state = 'done'")
        cursor.execute(MANY_LEASES)
        cursor.execute(MANY_TICKETS, [n_waiting, SOON])
        # How many wait at present, as the planner knows it.
        cursor.execute("ANALYZE tasks_ticket, tasks_lease")
        cursor.execute(f"EXPLAIN {pairing.MEETING.sql} WHERE TRUE", values)
        lines = [line for (line,) in cursor.fetchall()]
        transaction.set_rollback(True)
    reads = [pair for pair in pairwise(lines) if " on tasks_ticket " in pair[0]]
    mine, partner = ("".join(read) for read in reads)
    assert "tasks_ticket_pkey" in mine, lines
    assert "(id = " in mine, lines
    assert "ticket_waiting" in partner, lines
    assert "stage_id" in partner, lines


def test_training_dialogs_about_one_section_are_numbered():
    stage = stage_of(make_dialogs(1, fold="train"), "dialog")
    for person in ("AADA", "AGRACE", "AMALLORY", "ARITA"):
        make_waiting(stage, person)
    assert [dialog.ordinal for dialog in pairing.sweep(stage, SOON, RNG)] == [0, 1]


def test_all_that_both_can_earn_is_held_when_they_are_paired(stage):
    make_waiting(stage, "AADA")
    grace = make_waiting(stage, "AGRACE")
    stage.collection.refresh_from_db()
    before = stage.collection.reserved_cents
    dialog = pairing.claim(grace, SOON, RNG)
    stage.collection.refresh_from_db()
    assert dialog.reserved_cents == 2 * sum(range(5, 17))
    assert stage.collection.reserved_cents == before + dialog.reserved_cents


def test_nobody_is_paired_when_the_money_is_used_up(stage):
    make_waiting(stage, "AADA")
    grace = make_waiting(stage, "AGRACE")
    collection = stage.collection
    collection.refresh_from_db()
    collection.budget_cents = collection.reserved_cents + 100
    collection.save()
    assert pairing.claim(grace, SOON, RNG) is None
    assert pairing.sweep(stage, SOON, RNG) == []
    assert states() == ["waiting", "waiting"]
    assert not Dialog.objects.exists()
    assert not Exposure.objects.exists()
    assert Topic.objects.first().taken == 0


def test_the_database_refuses_a_dialog_with_oneself(stage):
    ada = make_waiting(stage, "AADA")
    with pytest.raises(IntegrityError):
        Dialog.objects.create(
            stage=stage,
            topic=Topic.objects.first(),
            ordinal=0,
            student_ticket=ada,
            teacher_ticket=ada,
            student=ada.worker,
            teacher=ada.worker,
            began_at=NOW,
            moved_at=NOW,
        )
