"""A HIT that is paid or rejected hands out no work, and work that came all the same is settled."""

from datetime import timedelta

import pytest

from tasks import leases, payments, reconcile, submissions, unmatched
from tasks.crowd import marketplace
from tasks.models import Lease, Payment, PostingState, Submission, Unmatched
from tasks.tending import tend
from tasks.tests.deciding import SOON, listed, money
from tasks.tests.making import (
    NOW,
    consent,
    make_posting,
    make_session,
    make_worker,
    questions_for,
    stage_of,
)
from tasks.tests.visiting import open_page

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada(collection):
    worker = make_worker(qualified=(stage_of(collection, "question_qualification"),))
    consent(worker, collection)
    return worker


@pytest.mark.parametrize(
    ("state", "told"),
    [(PostingState.SETTLED, b"paid before"), (PostingState.REJECTED, b"rejected before")],
)
def test_a_hit_that_is_decided_hands_out_no_work(client, collection, ada, soon, state, told):
    posting = make_posting(stage_of(collection, "question"))
    posting.state = state
    posting.save()
    page = open_page(client, posting, "AADA", soon)
    assert told in page.content
    assert b"rita@example.org" in page.content
    assert not Lease.objects.exists()


def test_work_that_comes_after_its_hit_was_paid_is_settled_and_paid_once(
    collection, ada, desk, monkeypatch
):
    stage = stage_of(collection, "question")
    posting = make_posting(stage)
    session = make_session(ada, posting)
    lease = leases.claim(session, stage, NOW)
    leases.expire_overdue(NOW + timedelta(hours=9))
    monkeypatch.setattr(marketplace, "submitted_assignments", lambda _: [listed(posting, session)])
    reconcile.confirm_submissions(collection, NOW)
    unmatched.pay(Unmatched.objects.get(), "rita", SOON)
    assert payments.approve_confirmed(collection, SOON) == 1
    lease.refresh_from_db()
    submissions.hand_in(lease, questions_for(lease), SOON, synthetic=False)
    # The HIT is finished: the marketplace lists it no more.
    monkeypatch.setattr(marketplace, "submitted_assignments", lambda _: [])
    assert tend(collection, SOON)["paid before it came"] == 1
    assert Submission.objects.get().state == "approved"
    assert Payment.objects.count() == 1
    assert money(collection)[1] == 400
