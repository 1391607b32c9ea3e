"""What the marketplace lists is matched with what we hold, whoever it is listed for."""

from datetime import timedelta

import pytest

from tasks.crowd import marketplace
from tasks.crowd.requester_api import MarketplaceError
from tasks.ledger import payments
from tasks.models import (
    EmptySubmission,
    Identity,
    Payment,
    Posting,
    PostingState,
    ReceiptState,
)
from tasks.paying import compensation, reconcile, rejections
from tasks.paying import decisions as pay_decisions
from tasks.people.erasure import forget
from tasks.tests.deciding import SOON, listed, make_confirmed, money, state_of
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


@pytest.fixture
def stage(fake_marketplace):
    return stage_of(make_collection(), "question")


@pytest.fixture
def held(stage):
    """Return work of Ada's that we hold and the marketplace has not listed yet."""
    return hold(stage, "AADA")


@pytest.fixture
def reconciled(stage, monkeypatch):
    """Return a function that reconciles with a marketplace that lists these assignments."""

    def reconciled(*rows):
        monkeypatch.setattr(marketplace, "submitted_assignments", lambda _: rows)
        return reconcile.confirm_submissions(stage.collection, SOON)

    return reconciled


def hold(stage, person):
    """Return work that was handed in and waits for its receipt."""
    lease = leases.claim(make_session(make_worker(person), make_posting(stage)), stage, NOW)
    return submissions.hand_in(lease, questions_for(lease), NOW, synthetic=False)


def put_up(payment):
    """Return the payment's own HIT, live."""
    Posting.objects.filter(pk=payment.posting_id).update(
        state=PostingState.LIVE, external_id=f"HOWN{payment.pk}", external_type="T1"
    )
    return Posting.objects.get(pk=payment.posting_id)


def refuse(*_):
    """Answer as a marketplace that says no for good."""
    raise MarketplaceError("It is gone.", permanent=True)


def test_a_late_receipt_is_taken_in_whole_after_a_call_that_failed(held, reconciled, monkeypatch):
    reconcile.reroute(held, NOW)
    other = put_up(Payment.objects.get())
    row = listed(held.session.posting, held.session)

    def silent(_):
        raise MarketplaceError("It does not answer.", permanent=False)

    monkeypatch.setattr(marketplace, "expire_hit", silent)
    with pytest.raises(MarketplaceError):
        reconciled(row)
    expired = []
    monkeypatch.setattr(marketplace, "expire_hit", expired.append)
    assert reconciled(row) == 1
    assert expired == [other.external_id]
    assert state_of(other) == PostingState.EXPIRED
    assert Payment.objects.get().posting == held.session.posting


def test_what_came_late_and_is_refused_then_is_paid_by_a_new_hit_of_their_own(
    held, reconciled, monkeypatch
):
    reconcile.reroute(held, NOW)
    first = put_up(Payment.objects.get())
    monkeypatch.setattr(marketplace, "expire_hit", lambda _: None)
    assert reconciled(listed(held.session.posting, held.session)) == 1
    held.refresh_from_db()
    payments.change_state(held, [ReceiptState.CONFIRMED], ReceiptState.REFUSED)
    told = pay_decisions.pay_apart(held, "", "rita", SOON)
    assert told == "A HIT that only this worker can take opens within a minute."
    second = Payment.objects.get().posting
    assert (second.state, second.worker) == (PostingState.PUBLISHING, held.lease.worker)
    assert second.token != first.token, "the marketplace would answer with the HIT that is over"


def test_an_account_that_was_merged_is_no_stranger(held, reconciled, monkeypatch):
    row = listed(held.session.posting, held.session, person="AKEPT")
    monkeypatch.setattr(marketplace, "expire_hit", lambda _: None)
    monkeypatch.setattr(marketplace, "assignments_of", lambda _: [row])
    assert (
        reconcile.reroute_lost(held.session.posting.stage.collection, NOW + timedelta(days=2)) == 0
    )
    assert reconciled(row) == 1
    assert state_of(held) == "confirmed"
    assert not EmptySubmission.objects.exists()
    assert Identity.objects.get().person == "AADA"


def test_what_came_without_work_is_one_row_after_a_merge(stage, reconciled):
    posting = make_posting(stage)
    reconciled(listed(posting))
    Posting.objects.filter(pk=posting.pk).update(state=PostingState.SUBMITTED)
    reconciled(listed(posting, person="AKEPT"))
    assert EmptySubmission.objects.count() == 1


def test_the_next_worker_of_a_returned_assignment_is_somebody_else(held, stage, reconciled):
    session = held.session
    session.signed_until = NOW - timedelta(hours=1)
    session.save()
    reconciled(listed(session.posting, session, person="AMALLORY"))
    assert EmptySubmission.objects.get().session.person == "AMALLORY"
    assert state_of(held) == "held"


def test_a_compensation_is_settled_for_a_merged_account(stage, reconciled, fake_marketplace):
    lease = leases.claim(make_session(make_worker(), make_posting(stage)), stage, NOW)
    payment = compensation.compensate(lease, 100, "Cut off.", NOW)
    posting = put_up(payment)
    assert reconciled(listed(posting, person="AKEPT")) == 1
    assert state_of(posting) == PostingState.SETTLED


def test_reconciling_does_not_bring_back_who_was_erased(stage, reconciled, fake_marketplace):
    values = stage.collection.parameters["pay"] | {"approve_after_hours": 48}
    stage.collection.parameters |= {"pay": values}
    stage.collection.save()
    done = make_confirmed(stage.collection)
    make_posting(stage)
    row = rejections.propose(done.session, "Copied.", "rita", NOW)
    rejections.confirm(row, "Yes.", "grace", SOON)
    rejections.carry_out(stage.collection, SOON)
    seen = listed(done.session.posting, done.session, status="Rejected")
    forget(done.session.worker, SOON, withdraw=True)
    reconciled(seen)
    assert not Identity.objects.exists()
    assert not EmptySubmission.objects.exists()


def test_what_the_form_said_goes_with_who_is_erased(stage, reconciled, fake_marketplace):
    reconciled(listed(make_posting(stage)))
    work = EmptySubmission.objects.get()
    EmptySubmission.objects.update(state="rejected")
    forget(work.session.worker, SOON, withdraw=False)
    work.refresh_from_db()
    assert work.fields == {}


def test_money_is_held_while_somebody_may_still_earn_it(stage, fake_marketplace):
    posting = make_posting(stage)
    after = NOW + timedelta(days=15)
    fake_marketplace.pending[posting.external_id] = 1
    assert reconcile.expire_postings(stage.collection, after) == 0
    assert money(stage.collection) == (400, 0)
    fake_marketplace.pending[posting.external_id] = 0
    assert reconcile.expire_postings(stage.collection, after) == 1
    assert money(stage.collection) == (0, 0)
    assert ("update_expiration_for_hit", posting.external_id) in fake_marketplace.told


def test_one_hit_that_is_gone_holds_no_other_ones_money(stage, fake_marketplace):
    fake_marketplace.pending[make_posting(stage).external_id] = 0
    gone = make_posting(stage).external_id
    fake_marketplace.pending[gone] = 0
    fake_marketplace.gone.add(gone)
    assert reconcile.expire_postings(stage.collection, NOW + timedelta(days=15)) == 1


def test_a_settled_hit_that_is_listed_still_is_deleted(
    stage, reconciled, fake_marketplace, monkeypatch
):
    done = make_confirmed(stage.collection)
    make_posting(stage)

    def silent(_):
        raise MarketplaceError("It does not answer.", permanent=False)

    with monkeypatch.context() as broken:
        broken.setattr(marketplace, "finish_hit", silent)
        with pytest.raises(MarketplaceError):
            reconcile.approve_confirmed(stage.collection, NOW + timedelta(days=1))
    posting = done.session.posting
    reconciled(listed(posting, done.session, status="Approved"))
    assert fake_marketplace.told[-1] == ("delete_hit", posting.external_id)


def test_one_refused_compensation_leaves_the_others_alone(
    held, stage, reconciled, fake_marketplace
):
    lease = leases.claim(make_session(make_worker("AEVE"), make_posting(stage)), stage, NOW)
    posting = put_up(compensation.compensate(lease, 100, "Cut off.", NOW))
    fake_marketplace.statuses["A9"] = "Rejected"
    gone = listed(posting, assignment_id="A9", person="AEVE")
    assert reconciled(gone, listed(held.session.posting, held.session)) == 1
    assert state_of(held) == "confirmed"


def test_one_hit_that_is_gone_hides_no_lost_receipt(held, stage, monkeypatch):
    hold(stage, "AEVE")
    gone = held.session.posting.external_id
    monkeypatch.setattr(marketplace, "expire_hit", lambda name: name == gone and refuse())
    monkeypatch.setattr(marketplace, "assignments_of", lambda _: [])
    assert reconcile.reroute_lost(stage.collection, NOW + timedelta(days=2)) == 1


def test_one_hit_that_is_gone_hides_no_returned_one(stage, monkeypatch):
    first, second = (make_session(make_worker(name), make_posting(stage)) for name in ("A1", "A2"))
    for session in (first, second):
        leases.claim(session, stage, NOW)
    gone = first.posting.external_id
    monkeypatch.setattr(marketplace, "is_vacant", lambda name: name != gone or refuse())
    assert reconcile.find_returned(stage.collection, NOW + timedelta(minutes=10)) == 1


def test_what_a_clock_confirmed_that_was_ahead_is_paid_where_nobody_waits(stage, fake_marketplace):
    work = make_confirmed(stage.collection, at=NOW)
    type(work).objects.update(confirmed_at=NOW + timedelta(hours=1))
    assert reconcile.approve_confirmed(stage.collection, NOW) == 1
    assert state_of(work) == "approved"
