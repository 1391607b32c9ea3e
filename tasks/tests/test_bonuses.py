"""A bonus is sent once, for work the marketplace lists, and finds another way for what it lacks."""

from datetime import timedelta

import pytest

from common.actions import ActionError
from tasks.costs import estimate
from tasks.crowd import marketplace
from tasks.crowd.requester_api import MarketplaceError
from tasks.dialog import maintenance as dialog_maintenance
from tasks.dialog import moves, settlement
from tasks.dialog.tests.making import make_dialogs, make_waiting
from tasks.dialog.tests.talking import SOON, FirstOfTwo, pair, talk
from tasks.lifecycle import maintenance
from tasks.models import (
    Lease,
    LeaseState,
    Payment,
    PaymentKind,
    PaymentState,
    Posting,
    ReceiptState,
    Submission,
    Ticket,
)
from tasks.paying import bonuses, compensation, decisions, reconcile
from tasks.people.erasure import forget
from tasks.tests.making import NOW, stage_of
from tasks.work import leases, submissions
from tasks.work.dialog_rules import Ending, Role

pytestmark = pytest.mark.django_db
LATER = SOON + timedelta(hours=9)
FIVE_TURNS = 5 + 6 + 7 + 8 + 9


@pytest.fixture
def collection():
    return make_dialogs(2)


@pytest.fixture
def dialog(collection):
    """Return a dialog of five turns that is over and settled."""
    stage = stage_of(collection, "dialog")
    make_waiting(stage, "AADA")
    row = pair(make_waiting(stage, "AGRACE"))
    talk(row, 5)
    settlement.settle(moves.end(row.pk, Role.STUDENT, Ending.ENDED, SOON), SOON)
    return row


def hand_in(ticket, state=ReceiptState.CONFIRMED):
    work = submissions.hand_in(ticket.lease, {"dialog": [True]}, SOON, synthetic=False)
    Submission.objects.filter(pk=work.pk).update(state=state)


def owed():
    return Payment.objects.filter(kind=PaymentKind.BONUS, state=PaymentState.DUE)


def test_waits_and_turns_are_owed_to_both_when_a_dialog_is_over(dialog):
    assert sorted(owed().values_list("amount_cents", flat=True)) == [2, 2, FIVE_TURNS, FIVE_TURNS]
    assert {row.posting for row in owed()} == {
        ticket.lease.session.posting for ticket in Ticket.objects.all()
    }


def test_nothing_is_sent_before_the_marketplace_lists_the_assignment(collection, dialog, counter):
    hand_in(dialog.student_ticket, ReceiptState.HELD)
    assert bonuses.send_due(collection, SOON) == 0


@pytest.mark.parametrize(
    "state", [ReceiptState.CONFIRMED, ReceiptState.APPROVED, ReceiptState.REJECTED]
)
def test_whatever_becomes_of_the_assignment_its_bonuses_are_sent(
    collection, dialog, counter, state
):
    hand_in(dialog.student_ticket, state)
    assert bonuses.send_due(collection, SOON) == 2
    stay = dialog.student_ticket.lease.session
    assert {each["WorkerId"] for each in counter.sent} == {stay.person}
    assert {each["AssignmentId"] for each in counter.sent} == {stay.session_id}
    assert [each["BonusAmount"] for each in counter.sent] == ["0.35", "0.02"]
    assert owed().count() == 2
    assert bonuses.send_due(collection, SOON) == 0


def test_what_the_marketplace_refuses_waits_with_its_words_for_a_person(
    collection, dialog, counter
):
    hand_in(dialog.student_ticket)
    counter.refuses = "This worker is unknown."
    assert bonuses.send_due(collection, SOON) == bonuses.send_due(collection, SOON) == 0
    refused = Payment.objects.filter(state=PaymentState.REFUSED).order_by("id")
    assert {row.refusal for row in refused} == {"This worker is unknown."}
    assert (refused.count(), owed().count()) == (2, 2)
    one, other = refused
    assert decisions.ask_again(Payment.objects.filter(pk=one.pk)) == 1
    counter.refuses = ""
    assert bonuses.send_due(collection, SOON) == 1
    assert decisions.ask_again(Payment.objects.filter(pk=one.pk)) == 0
    assert decisions.pay_bonus_apart(other, SOON)
    assert not decisions.pay_bonus_apart(other, SOON)
    other.refresh_from_db()
    assert (other.state, other.posting.worker) == (PaymentState.DUE, other.worker)
    assert bonuses.send_due(collection, SOON) == 0


def test_what_was_sent_though_nobody_heard_is_not_sent_again(collection, dialog, counter):
    hand_in(dialog.student_ticket)
    counter.dies_after = True
    with pytest.raises(MarketplaceError):
        bonuses.send_due(collection, SOON)
    counter.dies_after = False
    assert bonuses.send_due(collection, SOON) == 2
    assert len(counter.sent) == 2


def test_after_a_day_the_marketplace_is_asked_what_it_has_sent(collection, dialog, counter):
    hand_in(dialog.student_ticket)
    counter.dies_after = True
    with pytest.raises(MarketplaceError):
        bonuses.send_due(collection, SOON)
    counter.dies_after, counter.forgets = False, True
    assert bonuses.send_due(collection, SOON + timedelta(days=2)) == 2
    assert len(counter.sent) == 2


def test_what_a_returned_assignment_earned_goes_into_one_hit_of_the_workers_own(
    collection, dialog, counter
):
    lease = dialog.teacher_ticket.lease
    leases.end(lease, LeaseState.RETURNED, SOON)
    assert bonuses.reroute_unsendable(collection, SOON) == 1
    assert bonuses.reroute_unsendable(collection, SOON) == 0
    posting = Posting.objects.get(worker=lease.worker)
    assert posting.reward_cents == FIVE_TURNS + 2
    assert posting.payments.count() == 2
    assert bonuses.send_due(collection, SOON) == 0


def test_time_that_ran_out_leaves_an_hour_for_late_work(collection, dialog, counter):
    lease = dialog.teacher_ticket.lease
    leases.end(lease, LeaseState.EXPIRED, SOON)
    assert bonuses.reroute_unsendable(collection, SOON) == 0
    assert bonuses.reroute_unsendable(collection, LATER) == 1


def test_the_reward_of_a_dialog_that_was_held_is_paid_when_time_runs_out(collection, dialog):
    leases.end(dialog.teacher_ticket.lease, LeaseState.EXPIRED, SOON)
    lease = Lease.objects.get(pk=dialog.teacher_ticket.lease_id)
    assert compensation.worth_cents(lease) == 30
    assert maintenance.pay_unfinished(collection, LATER) == 1
    assert Payment.objects.get(kind=PaymentKind.COMPENSATION).amount_cents == 30


def test_whoever_says_that_an_unfinished_dialog_is_over_is_paid_nothing_for_it(collection):
    ticket = make_waiting(stage_of(collection, "dialog"), "AMALLORY")
    leases.save_draft(ticket.lease, {"data": {"dialog": True}}, 0, SOON)
    leases.end(ticket.lease, LeaseState.EXPIRED, SOON)
    assert compensation.worth_cents(Lease.objects.get(pk=ticket.lease_id)) == 0
    assert maintenance.pay_unfinished(collection, LATER) == 0


def test_a_lost_receipt_takes_the_bonuses_along(collection, dialog, counter):
    hand_in(dialog.student_ticket, ReceiptState.HELD)
    assert reconcile.reroute(Submission.objects.get(), LATER) == 1
    Submission.objects.update(state=ReceiptState.APPROVED)
    assert bonuses.send_due(collection, LATER) == 0
    assert bonuses.reroute_unsendable(collection, LATER) == 1


def test_a_bonus_in_a_hit_of_its_own_is_settled_with_it(collection, dialog, counter, monkeypatch):
    leases.end(dialog.teacher_ticket.lease, LeaseState.RETURNED, SOON)
    bonuses.reroute_unsendable(collection, SOON)
    posting = Posting.objects.get(worker__isnull=False)
    monkeypatch.setattr(marketplace, "call", lambda *_, **__: {})
    assignment = marketplace.Assignment("H", "A", "P", "Submitted", {}, NOW, NOW)
    assert reconcile._settle_compensation(posting, assignment, LATER) == 2
    assert owed().count() == 2


def test_a_stay_that_goes_on_is_not_rerouted(collection, counter):
    stage = stage_of(collection, "dialog")
    make_waiting(stage, "AADA")
    row = pair(make_waiting(stage, "AGRACE"))
    talk(row, 1)
    leases.end(row.teacher_ticket.lease, LeaseState.RETURNED, SOON)
    assert bonuses.reroute_unsendable(collection, SOON) == 0
    dialog_maintenance.maintain_dialogs(stage, SOON, FirstOfTwo())
    assert bonuses.reroute_unsendable(collection, SOON) == 1


def test_nobody_is_forgotten_who_returned_a_dialog_that_is_not_paid_yet(collection, counter):
    stage = stage_of(collection, "dialog")
    make_waiting(stage, "AADA")
    row = pair(make_waiting(stage, "AGRACE"))
    talk(row, 5)
    lease = row.teacher_ticket.lease
    leases.end(lease, LeaseState.RETURNED, SOON)
    with pytest.raises(ActionError, match="owed money"):
        forget(lease.worker, SOON, withdraw=False)


def test_the_estimate_is_what_two_for_every_dialog_can_earn_and_never_falls_short(collection):
    def dialogs():
        return next(row for row in estimate(collection) if row.stage.name == "dialog")

    turns_of_both, wait, reward = 2 * sum(range(5, 17)), 15 * 15, 30
    assert dialogs().hits == 4
    assert dialogs().maximum_cents == 2 * turns_of_both + 4 * wait + 4 * reward
    assert 4 * reward < dialogs().expected_cents < dialogs().maximum_cents
    stage = stage_of(collection, "dialog")
    make_waiting(stage, "AADA")
    row = pair(make_waiting(stage, "AGRACE"))
    talk(row, 5)
    worst = dialogs().maximum_cents
    settlement.settle(moves.end(row.pk, Role.STUDENT, Ending.ENDED, SOON), SOON)
    assert dialogs().maximum_cents < worst
