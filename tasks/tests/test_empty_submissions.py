"""What came to the marketplace without work is shown, paid or rejected, and accounted for."""

from datetime import timedelta

import pytest

from collector.models import Collection
from common.actions import ActionError
from tasks.crowd import marketplace
from tasks.crowd.requester_api import MarketplaceError
from tasks.ledger import pay_terms
from tasks.models import (
    EmptySubmission,
    Payment,
    PaymentState,
    PostingState,
    RejectionState,
    Submission,
    Worker,
)
from tasks.paying import empty_submissions, reconcile, rejections
from tasks.tests.deciding import SOON, listed, money, state_of
from tasks.tests.making import (
    NOW,
    make_collection,
    make_posting,
    make_session,
    make_worker,
    questions_for,
    stage_of,
)
from tasks.work import leases, submissions

pytestmark = pytest.mark.django_db
LATER = NOW + timedelta(days=5)


@pytest.fixture
def stage(fake_marketplace):
    return stage_of(make_collection(pay__approve_after_hours=48.0), "question")


@pytest.fixture
def posting(stage):
    return make_posting(stage)


@pytest.fixture
def reconciled(posting, monkeypatch):
    """Return a function that reconciles with a marketplace that lists these assignments."""

    def reconciled(*rows):
        monkeypatch.setattr(marketplace, "submitted_assignments", lambda _: rows)
        return reconcile.confirm_submissions(posting.stage.collection, NOW)

    return reconciled


@pytest.fixture
def work(posting, reconciled):
    assert reconciled(listed(posting)) == 0
    return EmptySubmission.objects.get()


def test_it_is_kept_once_with_its_money_held(posting, reconciled, work):
    reconciled(listed(posting))
    reconciled(listed(posting, status="Approved"))
    assert EmptySubmission.objects.get().fields == {"words": "nothing"}
    assert state_of(posting) == PostingState.SUBMITTED_EMPTY
    assert money(posting.stage.collection) == (400, 0)
    assert not Payment.objects.exists()


def test_somebody_who_never_opened_the_page_becomes_a_worker(work):
    assert Worker.objects.get().identity.person == "AMALLORY"
    assert work.session.worker == Worker.objects.get()


def test_while_somebody_works_on_the_hit_nothing_is_said(posting, reconciled, stage):
    session = make_session(make_worker(), posting)
    leases.claim(session, stage, NOW)
    reconciled(listed(posting, session))
    assert not EmptySubmission.objects.exists()


def test_a_requester_pays_it(posting, work, fake_marketplace):
    assert empty_submissions.pay(work, "rita", SOON)
    assert not empty_submissions.pay(work, "grace", SOON)
    assert money(posting.stage.collection) == (0, 400)
    assert fake_marketplace.told == []
    assert reconcile.approve_confirmed(posting.stage.collection, SOON) == 1
    payment = Payment.objects.get()
    assert (payment.state, payment.reason) == (
        PaymentState.CONFIRMED,
        "Submitted empty; approved by rita.",
    )
    assert (state_of(work), state_of(posting)) == ("approved", "settled")
    assert fake_marketplace.told == [
        ("approve_assignment", "S-OUTSIDE"),
        ("delete_hit", posting.external_id),
    ]


def test_what_the_marketplace_approves_by_itself_enters_the_ledger(posting, work, fake_marketplace):
    collection = posting.stage.collection
    fake_marketplace.statuses["S-OUTSIDE"] = "Approved"
    assert empty_submissions.find_decided(collection, SOON) == 0
    assert empty_submissions.find_decided(collection, LATER) == 1
    assert reconcile.approve_confirmed(collection, LATER) == 1
    payment = Payment.objects.get()
    assert (payment.state, payment.amount_cents) == (PaymentState.CONFIRMED, 400)
    assert payment.reason == "Submitted empty; approved by the marketplace."
    assert money(posting.stage.collection) == (0, 400)
    assert empty_submissions.find_decided(collection, LATER) == 0


def test_what_waits_longer_than_the_marketplace_said_goes_on_waiting(posting, work):
    assert empty_submissions.find_decided(posting.stage.collection, LATER) == 0
    assert state_of(work) == "confirmed"


def test_what_another_program_rejected_costs_nothing(posting, work, fake_marketplace):
    fake_marketplace.statuses["S-OUTSIDE"] = "Rejected"
    assert empty_submissions.find_decided(posting.stage.collection, LATER) == 1
    assert (state_of(work), money(posting.stage.collection)) == ("rejected", (0, 0))
    assert state_of(posting) == PostingState.REJECTED


def test_what_another_program_rejected_is_taken_back(posting, work, fake_marketplace):
    collection = posting.stage.collection
    fake_marketplace.statuses["S-OUTSIDE"] = "Rejected"
    empty_submissions.find_decided(collection, LATER)
    row = work.session.rejections.get()
    assert (row.elsewhere, row.take_back_until) == (True, work.received_at + timedelta(days=30))
    rejections.take_back(row, "Something did come.", "rita", LATER)
    assert rejections.restore(collection, LATER) == 1
    assert (state_of(work), money(posting.stage.collection)) == ("approved", (0, 400))
    assert fake_marketplace.statuses["S-OUTSIDE"] == "Approved"


def test_it_is_rejected_by_two_and_taken_back(posting, work, fake_marketplace):
    collection = posting.stage.collection
    row = rejections.propose(work.session, "Nothing came.", "rita", NOW)
    assert row.holds_until == work.auto_approval_at
    assert not empty_submissions.pay(work, "grace", SOON)
    rejections.confirm(row, "Nothing indeed.", "grace", SOON)
    assert rejections.carry_out(collection, SOON) == 1
    assert (state_of(work), money(posting.stage.collection)) == ("rejected", (0, 0))
    row.refresh_from_db()
    rejections.take_back(row, "It was our server.", "rita", SOON)
    assert money(posting.stage.collection) == (0, 400)
    assert rejections.restore(collection, SOON) == 1
    assert Payment.objects.get().state == PaymentState.CONFIRMED
    assert (state_of(work), money(posting.stage.collection)) == ("approved", (0, 400))


def test_where_all_was_promised_to_be_paid_it_is_paid_and_not_rejected(
    posting, work, fake_marketplace
):
    collection = posting.stage.collection
    values = collection.parameters["pay"] | {"approve_after_hours": 0}
    Collection.objects.update(parameters=collection.parameters | {"pay": values})
    with pytest.raises(ActionError, match="was promised that all is paid"):
        rejections.propose(type(work).objects.get().session, "Nothing came.", "rita", NOW)
    assert state_of(work) == "confirmed"
    assert empty_submissions.pay(work, "rita", NOW)


def test_who_came_after_rejections_were_given_up_is_not_rejected(posting, work):
    collection, session = posting.stage.collection, type(work).objects.get().session
    given_up = posting.created_at + timedelta(seconds=1)
    type(session).objects.update(started_at=given_up + timedelta(seconds=1))
    EmptySubmission.objects.update(received_at=given_up + timedelta(seconds=2))
    collection.revisions.create(key=pay_terms.KEY, old=48.0, new=0, at=given_up)
    values = collection.parameters["pay"] | {"approve_after_hours": 0}
    Collection.objects.update(parameters=collection.parameters | {"pay": values})
    with pytest.raises(ActionError, match="was promised that all is paid"):
        rejections.propose(type(session).objects.get(), "Nothing came.", "rita", NOW)


def test_withdrawing_leaves_it_waiting(posting, work):
    row = rejections.propose(work.session, "Nothing came.", "rita", NOW)
    rejections.withdraw(row, "Wait.", "rita", SOON)
    assert (state_of(work), money(posting.stage.collection)) == ("confirmed", (400, 0))


def test_what_nobody_confirms_is_paid(posting, work):
    rejections.propose(work.session, "Nothing came.", "rita", NOW)
    assert rejections.lapse(posting.stage.collection, LATER) == 1
    assert reconcile.approve_confirmed(posting.stage.collection, LATER) == 1
    assert (state_of(work), money(posting.stage.collection)) == ("approved", (0, 400))


def test_one_the_marketplace_will_not_approve_is_put_aside(posting, work, fake_marketplace):
    empty_submissions.pay(work, "rita", SOON)
    fake_marketplace.broken = True
    assert reconcile.approve_confirmed(posting.stage.collection, SOON) == 0
    assert state_of(work) == "refused"
    assert work.refusal == "It is in another state."


def test_work_that_turns_up_is_paid_once_and_ends_a_proposal(
    stage, posting, reconciled, fake_marketplace
):
    session = make_session(make_worker(), posting)
    lease = leases.claim(session, stage, NOW)
    leases.expire_overdue(NOW + timedelta(hours=9))
    reconciled(listed(posting, session))
    work = EmptySubmission.objects.get()
    row = rejections.propose(session, "Nothing came.", "rita", NOW)
    lease.refresh_from_db()
    submissions.hand_in(lease, questions_for(lease), SOON, synthetic=False)
    assert reconciled(listed(posting, session)) == 1
    assert not EmptySubmission.objects.filter(pk=work.pk).exists()
    assert state_of(row) == RejectionState.WITHDRAWN
    assert state_of(posting) == PostingState.SUBMITTED
    assert reconcile.approve_confirmed(stage.collection, LATER) == 1
    assert Payment.objects.get().state == PaymentState.CONFIRMED
    assert money(posting.stage.collection) == (0, 400)


@pytest.mark.parametrize("told", [True, False])
def test_an_agreed_rejection_of_nothing_never_meets_work(
    stage, posting, reconciled, fake_marketplace, told
):
    session = make_session(make_worker(), posting)
    lease = leases.claim(session, stage, NOW)
    leases.expire_overdue(NOW + timedelta(hours=9))
    reconciled(listed(posting, session))
    row = rejections.propose(session, "Nothing came.", "rita", NOW)
    rejections.confirm(row, "Nothing indeed.", "grace", SOON)
    lease.refresh_from_db()
    work = submissions.hand_in(lease, questions_for(lease), SOON, synthetic=False)
    if told:
        reconciled(listed(posting, session))
    else:
        # The note was gone before the rejection was looked at.
        EmptySubmission.objects.all().delete()
    assert rejections.carry_out(stage.collection, SOON) == 0
    assert state_of(row) == RejectionState.FAILED
    assert reconciled(listed(posting, session)) == (0 if told else 1)
    assert reconcile.approve_confirmed(stage.collection, LATER) == 1
    assert fake_marketplace.told[0] == ("approve_assignment", session.session_id)
    assert (state_of(work), money(stage.collection)) == ("approved", (0, 400))


def test_nothing_is_withheld_for_what_was_taken_away_meanwhile(
    posting, work, fake_marketplace, monkeypatch
):
    row = rejections.propose(work.session, "Nothing came.", "rita", NOW)
    rejections.confirm(row, "Nothing indeed.", "grace", SOON)

    def reject(*_):
        EmptySubmission.objects.filter(pk=work.pk).update(state="approving")
        return True

    monkeypatch.setattr(marketplace, "reject", reject)
    assert rejections.carry_out(posting.stage.collection, SOON) == 0
    assert not Payment.objects.exists()
    assert money(posting.stage.collection) == (400, 0)
    assert state_of(row) == RejectionState.AGREED


def test_one_the_marketplace_does_not_know_hides_no_other(posting, work, reconciled, monkeypatch):
    other = make_posting(posting.stage)
    reconciled(listed(other, assignment_id="S-OTHER", person="AEVE"))

    def status_of(name):
        if name == "S-OUTSIDE":
            raise MarketplaceError("There is none.", permanent=True)
        return "Approved"

    monkeypatch.setattr(marketplace, "status_of", status_of)
    assert empty_submissions.find_decided(posting.stage.collection, LATER) == 1


def test_work_that_turns_up_after_it_was_paid_is_not_paid_twice(
    stage, posting, reconciled, fake_marketplace
):
    session = make_session(make_worker(), posting)
    lease = leases.claim(session, stage, NOW)
    leases.expire_overdue(NOW + timedelta(hours=9))
    reconciled(listed(posting, session))
    empty_submissions.pay(EmptySubmission.objects.get(), "rita", SOON)
    lease.refresh_from_db()
    submissions.hand_in(lease, questions_for(lease), SOON, synthetic=False)
    reconciled(listed(posting, session))
    assert reconcile.approve_confirmed(stage.collection, LATER) == 2
    assert Submission.objects.get().state == "approved"
    assert Payment.objects.get().state == PaymentState.CONFIRMED
    assert money(posting.stage.collection) == (0, 400)


@pytest.mark.parametrize("settled", [True, False])
def test_work_that_comes_once_its_hit_is_paid_waits_for_no_receipt(
    stage, posting, reconciled, fake_marketplace, settled
):
    session = make_session(make_worker(), posting)
    lease = leases.claim(session, stage, NOW)
    leases.expire_overdue(NOW + timedelta(hours=9))
    reconciled(listed(posting, session))
    empty_submissions.pay(EmptySubmission.objects.get(), "rita", SOON)
    if settled:
        reconcile.approve_confirmed(stage.collection, SOON)
    lease.refresh_from_db()
    work = submissions.hand_in(lease, questions_for(lease), SOON, synthetic=False)
    reconcile.approve_confirmed(stage.collection, SOON)
    assert state_of(work) == "approved"
    assert Payment.objects.get().state == PaymentState.CONFIRMED
