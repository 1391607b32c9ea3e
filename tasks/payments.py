"""The ledger: what is owed is written first, the marketplace is told second, and reconciled."""

import logging
from datetime import datetime, timedelta

from django.db import transaction

from collector.creation import parameters_of
from collector.models import Collection
from collector.parameters import Parameters
from tasks import budget
from tasks.crowd import marketplace
from tasks.crowd.requester_api import MarketplaceError
from tasks.models import (
    Payment,
    PaymentKind,
    PaymentState,
    Posting,
    PostingState,
    ReceiptState,
    Session,
    Submission,
)
from tasks.statements import insert, run

log = logging.getLogger(__name__)
TAKE_IN = """
UPDATE tasks_posting
SET reserved_cents = 0, state = CASE state WHEN 'live' THEN 'submitted' ELSE state END
WHERE id = %(posting)s AND state = %(state)s AND reserved_cents = %(reserved)s
"""


def owe_reward(
    submission: Submission, posting: Posting, parameters: Parameters, now: datetime
) -> None:
    """Write that the posting's reward is due; turns its reservation into money spent.

    Expects the transaction of the submission. An expired posting has no reservation left: its
    place is paid all the same, from the budget's remainder or by raising the budget.
    """
    _take_in(posting)
    key = f"reward:{posting.token}:{submission.lease.worker_id}"
    # A posting that was open until now has paid nobody yet.
    if posting.state != PostingState.LIVE and Payment.objects.filter(key=key).exists():
        return
    fee = budget.fee_cents(posting.reward_cents, parameters.pay)
    payment = Payment(
        key=key,
        collection_id=posting.stage.collection_id,
        stage_id=posting.stage_id,
        worker_id=submission.lease.worker_id,
        submission=submission,
        posting=posting,
        kind=PaymentKind.REWARD,
        amount_cents=posting.reward_cents,
        fee_cents=fee,
        created_at=now,
    )
    insert([payment])
    _spend(posting, posting.reward_cents + fee, now)


def _take_in(posting: Posting) -> None:
    """Mark a posting as handed in and empty it; `posting` tells what it was until then.

    What was read of it before may have changed since: then it is read and tried again.
    """
    while not run(
        TAKE_IN,
        posting=posting.pk,
        state=str(posting.state),
        reserved=posting.reserved_cents,
    ):
        posting.refresh_from_db(fields=["state", "reserved_cents"])


def _spend(posting: Posting, cost_cents: int, now: datetime) -> None:
    missing = cost_cents - posting.reserved_cents
    if missing > 0 and not budget.reserve(posting.stage.collection_id, missing):
        # Work that was done is owed whatever the cap says; the overrun shows in the budget.
        raised = Collection.objects.select_for_update(no_key=True).get(
            pk=posting.stage.collection_id
        )
        cents = raised.reserved_cents + raised.spent_cents + missing
        raised.revisions.create(
            key="budget_cents", old=raised.budget_cents, new=cents, by="late work", at=now
        )
        raised.budget_cents = cents
        raised.save(update_fields=["budget_cents"])
        budget.reserve(posting.stage.collection_id, missing)
    held = max(posting.reserved_cents, cost_cents)
    budget.earn(posting.stage.collection_id, reserved_cents=held, cost_cents=cost_cents)


def approve_confirmed(collection: Collection, now: datetime) -> int:
    """Approve every confirmed submission whose waiting time is over; returns how many."""
    parameters = parameters_of(collection)
    ripe = now - timedelta(hours=parameters.pay.approve_after_hours)
    confirmed = Submission.objects.filter(
        lease__unit__stage__collection=collection,
        state=ReceiptState.CONFIRMED,
        confirmed_at__lte=ripe,
    ).select_related("lease__session__posting")
    approved = 0
    for submission in confirmed.order_by("id"):
        approved += _approve(submission, submission.lease.session, now)
    return approved


def _approve(submission: Submission, session: Session, now: datetime) -> int:
    """Approve one submission; one the marketplace refuses for good is put aside, seen by people."""
    try:
        marketplace.approve(session.session_id)
    except MarketplaceError as error:
        if not error.permanent:
            raise
        log.warning("Submission %s cannot be approved: %s", submission.pk, error)
        Submission.objects.filter(pk=submission.pk).update(state=ReceiptState.REFUSED)
        return 0
    _settle(submission, session.posting, now)
    marketplace.finish_hit(session.posting.external_id)
    return 1


def _settle(submission: Submission, posting: Posting, now: datetime) -> None:
    with transaction.atomic():
        Submission.objects.filter(pk=submission.pk).update(state=ReceiptState.APPROVED)
        Posting.objects.filter(pk=posting.pk).update(state=PostingState.SETTLED)
        Payment.objects.filter(submission=submission, state=PaymentState.DUE).update(
            state=PaymentState.CONFIRMED, confirmed_at=now
        )
