"""A stage of dialogs has as many tickets as there are people to be paired."""

import pytest

from collector.protocols.creation import parameters_of
from tasks.dialog.tests.making import make_dialogs, make_lease, make_talker, make_waiting
from tasks.models import Exposure, LeaseState, Ticket, Topic
from tasks.pages.work_page import items_of
from tasks.tests.making import NOW, make_posting, make_session, stage_of
from tasks.work import leases, submissions, units

pytestmark = pytest.mark.django_db


@pytest.fixture
def stage():
    return stage_of(make_dialogs(3), "dialog")


def top_up(stage):
    return units.bundle(stage, parameters_of(stage.collection))


def test_two_tickets_are_made_for_every_dialog_that_is_wanted(stage):
    assert [topic.wanted for topic in Topic.objects.all()] == [1, 1, 1]
    assert stage.units.count() == 6
    assert set(stage.units.values_list("redundancy", flat=True)) == {1}
    assert top_up(stage) == 0


def test_training_has_several_dialogs_about_a_section():
    collection = make_dialogs(2, fold="train")
    assert stage_of(collection, "dialog").units.count() == 8


def test_tickets_are_not_needed_while_dialogs_go_on_and_are_when_one_was_too_short(stage):
    Topic.objects.update(taken=1)
    top_up(stage)
    assert stage.units.filter(closed=False).count() == 0
    Topic.objects.filter(pk=Topic.objects.first().pk).update(taken=0)
    assert top_up(stage) == 2


def test_whoever_waits_needs_no_other_ticket(stage):
    make_waiting(stage, "AADA")
    make_lease(stage, make_talker(stage.collection, "AGRACE"))
    assert top_up(stage) == 0
    assert stage.units.filter(taken=0).count() == 4


def test_whoever_is_done_makes_room_for_somebody_else(stage):
    make_waiting(stage, "AADA")
    Ticket.objects.update(state="done")
    assert top_up(stage) == 1


def test_a_ticket_is_held_like_any_unit_and_shows_nothing(stage):
    worker = make_talker(stage.collection, "AADA")
    lease = make_lease(stage, worker)
    assert (lease.state, items_of(lease.unit)) == (LeaseState.LIVE, [])
    assert not Exposure.objects.exists()
    assert lease.unit.position == 0


def test_nobody_is_at_two_tickets_at_once(stage):
    worker = make_talker(stage.collection, "AADA")
    make_lease(stage, worker)
    session = make_session(worker, make_posting(stage))
    assert leases.claim(session, stage, NOW) is None


def test_nobody_waits_where_nothing_is_new_to_them(stage):
    worker = make_talker(stage.collection, "AADA")
    for topic in Topic.objects.all():
        Exposure.objects.create(worker=worker, seed=topic.seed, kind="validation", at=NOW)
    session = make_session(worker, make_posting(stage))
    assert leases.claim(session, stage, NOW) is None


def test_a_ticket_is_handed_in_when_it_is_done_and_not_before(stage):
    ticket = make_waiting(stage, "AADA")
    data = {"dialog": True}
    [problem] = submissions.examine(ticket.lease, data, []).problems
    assert "not over yet" in problem.message
    Ticket.objects.update(state="done")
    examined = submissions.examine(ticket.lease, data, [])
    assert examined.problems == []
    submission = submissions.hand_in(ticket.lease, examined.data, NOW, synthetic=False)
    assert submission.counts
    assert submission.payments.get().amount_cents == 30
    assert submissions.examine(ticket.lease, {}, []).problems
