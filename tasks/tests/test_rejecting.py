"""The marketplace is told of a rejection until it is done, and the money follows."""

from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction

from common.actions import ActionError
from tasks.crowd import marketplace
from tasks.crowd.requester_api import MarketplaceError
from tasks.models import (
    Payment,
    PaymentState,
    PostingState,
)
from tasks.paying import reconcile, rejections
from tasks.tests.deciding import DAY, SOON, make_confirmed, money, state_of
from tasks.tests.making import NOW

pytestmark = pytest.mark.django_db


def test_two_people_reject_and_the_budget_has_the_money_back(
    work, paid_late, proposal, fake_marketplace
):
    assert money(paid_late) == (0, 400)
    rejections.confirm(proposal, "It is.", "grace", SOON)
    assert fake_marketplace.told == []
    assert rejections.carry_out(paid_late, SOON) == 1
    assert fake_marketplace.told == [("reject_assignment", "Every answer is copied.")]
    assert (state_of(work), state_of(proposal)) == ("rejected", "rejected")
    assert state_of(work.session.posting) == PostingState.REJECTED
    assert Payment.objects.get().state == PaymentState.WITHHELD
    assert money(paid_late) == (0, 0)
    assert [(step.state, step.by, step.why) for step in proposal.steps.all()] == [
        ("proposed", "rita", "Every answer is copied."),
        ("agreed", "grace", "It is."),
        ("rejected", "the marketplace", "Done: the worker can read the reason."),
    ]


def test_what_nobody_decides_is_paid(work, paid_late, proposal):
    # The marketplace approves by itself after five days, before the seven are over.
    assert proposal.holds_until == NOW + 5 * DAY
    assert rejections.lapse(paid_late, NOW + 5 * DAY - timedelta(seconds=1)) == 0
    with pytest.raises(ActionError, match="time to decide is over"):
        rejections.confirm(proposal, "It is.", "grace", NOW + 5 * DAY)
    assert rejections.lapse(paid_late, NOW + 5 * DAY) == 1
    assert reconcile.approve_confirmed(paid_late, NOW + 5 * DAY) == 1
    assert (state_of(work), state_of(proposal)) == ("approved", "lapsed")


def test_it_is_taken_back_and_paid(work, paid_late, rejected, fake_marketplace):
    rejections.take_back(rejected, "She showed us.", "rita", NOW + 20 * DAY)
    assert money(paid_late) == (0, 400)
    assert Payment.objects.get().state == PaymentState.DUE
    assert rejections.restore(paid_late, NOW + 20 * DAY) == 1
    assert (state_of(work), state_of(rejected)) == ("approved", "restored")
    assert Payment.objects.get().state == PaymentState.CONFIRMED
    assert state_of(work.session.posting) == PostingState.SETTLED
    assert ("delete_hit", work.session.posting.external_id) in fake_marketplace.told


def test_a_marketplace_that_refuses_to_take_it_back_leaves_it_rejected(
    work, paid_late, rejected, fake_marketplace
):
    rejections.take_back(rejected, "No.", "rita", SOON)
    fake_marketplace.broken = True
    assert rejections.restore(paid_late, SOON) == 0
    assert (state_of(work), state_of(rejected)) == ("rejected", "rejected")
    assert money(paid_late) == (0, 0)
    assert rejected.steps.last().why.startswith("The marketplace refused to take it back")


def test_a_silent_marketplace_is_told_in_the_next_round(
    work, paid_late, proposal, fake_marketplace
):
    rejections.confirm(proposal, "It is.", "grace", SOON)
    fake_marketplace.silent = True
    with pytest.raises(Exception, match="does not answer"):
        rejections.carry_out(paid_late, SOON)
    assert (state_of(work), state_of(proposal)) == ("disputed", "agreed")
    fake_marketplace.silent = False
    assert rejections.carry_out(paid_late, SOON) == 1


def test_a_reply_that_was_lost_is_looked_up(work, paid_late, proposal, fake_marketplace):
    rejections.confirm(proposal, "It is.", "grace", SOON)
    fake_marketplace.statuses[work.session.session_id] = "Rejected"
    assert rejections.carry_out(paid_late, SOON) == 1
    assert rejections.carry_out(paid_late, SOON) == 0
    assert money(paid_late) == (0, 0)


def test_what_the_marketplace_has_approved_stays_paid(work, paid_late, proposal, fake_marketplace):
    rejections.confirm(proposal, "It is.", "grace", SOON)
    fake_marketplace.statuses[work.session.session_id] = "Approved"
    assert rejections.carry_out(paid_late, SOON) == 0
    assert state_of(proposal) == "failed"
    assert reconcile.approve_confirmed(paid_late, NOW + 2 * DAY) == 1
    assert (state_of(work), money(paid_late)) == ("approved", (0, 400))


def test_a_rejection_the_marketplace_refuses_ends_in_payment(
    work, paid_late, proposal, fake_marketplace
):
    rejections.confirm(proposal, "It is.", "grace", SOON)
    fake_marketplace.broken = True
    assert rejections.carry_out(paid_late, SOON) == 0
    fake_marketplace.broken = False
    assert reconcile.approve_confirmed(paid_late, NOW + 2 * DAY) == 1
    assert state_of(work) == "approved"


def test_a_contest_the_marketplace_settled_is_owed_whatever_the_budget(
    work, paid_late, rejected, fake_marketplace
):
    paid_late.refresh_from_db()
    paid_late.budget_cents = 0
    paid_late.save()
    fake_marketplace.statuses[work.session.session_id] = "Approved"
    assert rejections.find_approved(paid_late, SOON) == 0
    assert rejections.find_approved(paid_late, SOON + rejections.ASK_EVERY) == 1
    assert (state_of(work), state_of(rejected)) == ("approved", "restored")
    assert money(paid_late) == (0, 400)
    assert Payment.objects.get().state == PaymentState.CONFIRMED


def test_the_time_to_contest_runs_from_when_the_marketplace_was_told(
    work, paid_late, proposal, fake_marketplace
):
    rejections.confirm(proposal, "It is.", "grace", SOON)
    # The marketplace was silent for four days.
    assert rejections.carry_out(paid_late, NOW + 4 * DAY) == 1
    rejections.find_approved(paid_late, NOW + 39 * DAY)
    assert state_of(proposal) == "rejected"
    rejections.find_approved(paid_late, NOW + 43 * DAY)
    assert state_of(proposal) == "final"


def test_one_the_marketplace_does_not_know_hides_no_other(paid_late, rejected, monkeypatch):
    second = make_confirmed(paid_late, "AEVE")
    row = rejections.propose(second.session, "Copied.", "rita", NOW)
    rejections.confirm(row, "It is.", "grace", SOON)
    rejections.carry_out(paid_late, SOON)

    def status_of(name):
        if name == rejected.session.session_id:
            raise MarketplaceError("There is none.", permanent=True)
        return "Approved"

    monkeypatch.setattr(marketplace, "status_of", status_of)
    assert rejections.find_approved(paid_late, SOON + rejections.ASK_EVERY) == 1
    assert state_of(second) == "approved"


def test_in_the_end_a_rejection_is_final(work, paid_late, rejected, fake_marketplace):
    rejections.find_approved(paid_late, NOW + 37 * DAY)
    assert state_of(rejected) == "rejected"
    rejections.find_approved(paid_late, NOW + 39 * DAY)
    assert state_of(rejected) == "final"
    assert fake_marketplace.told[-1] == ("delete_hit", work.session.posting.external_id)
    rejected.pk = None
    with pytest.raises(IntegrityError), transaction.atomic():
        rejected.save()
