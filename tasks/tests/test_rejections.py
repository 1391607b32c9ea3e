"""Rejecting takes two people or a day, can be taken back, and never happens by itself."""

from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction

from common.actions import ActionError
from tasks.ledger import payments
from tasks.models import (
    Payment,
    PaymentState,
    ReceiptState,
    Rejection,
    RejectionState,
)
from tasks.paying import reconcile, rejections
from tasks.people.erasure import forget
from tasks.tests.deciding import DAY, SOON, make_confirmed, money, state_of
from tasks.tests.making import NOW, make_collection

pytestmark = pytest.mark.django_db


def test_where_nobody_was_to_wait_confirmed_work_cannot_be_rejected(fake_marketplace):
    work = make_confirmed(make_collection(slug="paid-at-once", pay__approve_after_hours=0))
    with pytest.raises(ActionError, match="was promised that all is paid"):
        rejections.propose(work.session, "Copied.", "rita", NOW)
    work.refresh_from_db()
    assert work.state == "confirmed"


def test_whoever_proposed_it_waits_a_day(proposal):
    with pytest.raises(ActionError, match="somebody else has to confirm it"):
        rejections.confirm(proposal, "It is.", "rita", NOW + DAY - timedelta(seconds=1))
    rejections.confirm(proposal, "It is.", "rita", NOW + DAY)
    assert state_of(proposal) == RejectionState.AGREED


def test_the_database_knows_the_rule_too(proposal):
    rows = Rejection.objects.filter(pk=proposal.pk)
    for wrong in (
        {"state": "agreed", "confirmed_by": "rita", "confirmed_at": SOON},
        {"state": "agreed"},
        {"state": "rejected", "confirmed_by": "", "confirmed_at": SOON},
        {"confirmed_by": "grace", "confirmed_at": SOON},
        {"state": "agreed", "confirmed_by": "grace", "confirmed_at": NOW + 9 * DAY},
        {"reason": ""},
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            rows.update(**wrong)


def test_one_proposal_at_a_time(work, proposal):
    with pytest.raises(ActionError, match="proposed already"):
        rejections.propose(work.session, "Again.", "grace", SOON)
    proposal.pk = None
    with pytest.raises(IntegrityError), transaction.atomic():
        proposal.save()


def test_a_proposal_holds_the_approval_and_nothing_else(
    work, paid_late, proposal, fake_marketplace
):
    other = make_confirmed(paid_late, "AGRACE")
    assert reconcile.approve_confirmed(paid_late, NOW + 3 * DAY) == 1
    assert (state_of(work), state_of(other)) == ("disputed", "approved")


def test_it_is_withdrawn_and_the_work_is_paid(work, paid_late, proposal):
    rejections.withdraw(proposal, "I misread it.", "rita", SOON)
    assert (state_of(work), state_of(proposal)) == ("confirmed", "withdrawn")
    with pytest.raises(ActionError, match="just decided"):
        rejections.confirm(proposal, "It is.", "grace", SOON)
    with pytest.raises(ActionError, match="just decided"):
        rejections.withdraw(Rejection.objects.get(), "Twice.", "rita", SOON)
    assert reconcile.approve_confirmed(paid_late, NOW + 2 * DAY) == 1
    assert Payment.objects.get().state == PaymentState.CONFIRMED


def test_the_hold_is_seven_days_at_most_and_not_given_twice(work):
    late = NOW + timedelta(days=4, hours=12)
    first = rejections.propose(work.session, "Copied.", "rita", NOW)
    Rejection.objects.update(proposed_at=NOW - 4 * DAY)
    rejections.withdraw(first, "No.", "rita", NOW)
    second = rejections.propose(work.session, "Copied.", "rita", NOW)
    assert second.holds_until == NOW + 3 * DAY
    rejections.withdraw(second, "No.", "rita", NOW)
    with pytest.raises(ActionError, match="time to reject it is over"):
        rejections.propose(work.session, "Copied.", "rita", late)
    assert state_of(work) == "confirmed"


@pytest.mark.parametrize(
    ("state", "sentence"),
    [
        ("held", "not confirmed this work yet"),
        ("approving", "being paid"),
        ("approved", "cannot be rejected"),
        ("refused", "refused to pay it"),
        ("rejected", "rejected already"),
    ],
)
def test_only_what_waits_to_be_paid_can_be_rejected(work, state, sentence):
    type(work).objects.update(state=state)
    with pytest.raises(ActionError, match=sentence):
        rejections.propose(work.session, "Copied.", "rita", NOW)
    assert not Rejection.objects.exists()


@pytest.mark.parametrize(
    ("reason", "sentence"),
    [(" \n\x00", "the worker reads it"), ("x" * 1025, "shorten the reason by 1")],
)
def test_a_reason_is_needed_that_the_marketplace_takes(work, reason, sentence):
    with pytest.raises(ActionError, match=sentence):
        rejections.propose(work.session, reason, "rita", NOW)
    assert state_of(work) == "confirmed"


def test_every_step_says_why(proposal, rejected):
    for act in (rejections.confirm, rejections.withdraw, rejections.take_back):
        with pytest.raises(ActionError, match="Say why"):
            act(rejected, " ", "rita", SOON)


def test_a_hit_without_anything_handed_in_cannot_be_rejected(work):
    session = work.session
    work.questions.all().delete()
    work.payments.all().delete()
    work.delete()
    with pytest.raises(ActionError, match="Nothing was handed in"):
        rejections.propose(session, "Copied.", "rita", NOW)


def test_it_cannot_be_taken_back_before_it_is_done_nor_after_thirty_days(proposal, paid_late):
    rejections.confirm(proposal, "It is.", "grace", SOON)
    with pytest.raises(ActionError, match="in a minute"):
        rejections.take_back(proposal, "No.", "rita", SOON)
    rejections.carry_out(paid_late, SOON)
    proposal.refresh_from_db()
    with pytest.raises(ActionError, match="for 30 days"):
        rejections.take_back(proposal, "No.", "rita", NOW + 30 * DAY)
    assert state_of(proposal) == "rejected"


def test_a_budget_that_cannot_hold_it_says_so_and_nothing_changes(paid_late, rejected):
    paid_late.refresh_from_db()
    paid_late.budget_cents = 399
    paid_late.save()
    with pytest.raises(ActionError, match="raise it, then take the rejection back"):
        rejections.take_back(rejected, "No.", "rita", SOON)
    assert state_of(rejected) == "rejected"
    assert Payment.objects.get().state == PaymentState.WITHHELD
    assert money(paid_late) == (0, 0)


def test_nobody_is_forgotten_while_a_rejection_is_open(work, proposal, paid_late):
    with pytest.raises(ActionError):
        forget(work.lease.worker, NOW, withdraw=False)
    rejections.confirm(proposal, "It is.", "grace", SOON)
    rejections.carry_out(paid_late, SOON)
    forget(work.lease.worker, NOW, withdraw=False)


def test_an_approval_under_way_wins_over_a_proposal(work, paid_late):
    assert payments.change_state(work, [ReceiptState.CONFIRMED], ReceiptState.APPROVING)
    with pytest.raises(ActionError, match="being paid"):
        rejections.propose(work.session, "Copied.", "rita", NOW)
    # Whoever took it has died: the next round approves it.
    assert reconcile.approve_confirmed(paid_late, NOW) == 1
    assert state_of(work) == "approved"
