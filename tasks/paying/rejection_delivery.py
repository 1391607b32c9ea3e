"""Carries decided rejections out on the marketplace, again and again until it is done."""

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q, QuerySet

from collector.models import Collection
from tasks.crowd import marketplace
from tasks.crowd.requester_api import MarketplaceError
from tasks.ledger import payments
from tasks.models import Posting, PostingState, ReceiptState, Rejection, RejectionState
from tasks.paying.empty_submissions import MARKETPLACE
from tasks.paying.rejections import approve_instead, work_on

CLOCK = "the clock"
# A worker may contest for thirty days, and the contest be answered in seven.
FINAL_AFTER = timedelta(days=38)
# How often the marketplace is asked whether it has approved what was rejected.
ASK_EVERY = timedelta(hours=1)


def lapse(collection: Collection, now: datetime) -> int:
    """Let everything be paid whose rejection nobody confirmed in time; returns how many."""
    overdue = _rejections(collection, RejectionState.PROPOSED).filter(holds_until__lte=now)
    lapsed = 0
    for row in overdue:
        with transaction.atomic():
            why = "Nobody decided in time: the work is paid."
            if row.advance(RejectionState.LAPSED, by=CLOCK, why=why, now=now):
                approve_instead(row, CLOCK, now)
                lapsed += 1
    return lapsed


def carry_out(collection: Collection, now: datetime) -> int:
    """Tell the marketplace of every decided rejection; returns how many it has taken.

    Raises MarketplaceError when it does not answer; the next round goes on from there.
    """
    agreed = _rejections(collection, RejectionState.AGREED)
    return marketplace.one_by_one(agreed, lambda row: _reject(row, now))


def _reject(row: Rejection, now: datetime) -> bool:
    work = work_on(row.session)
    if work is None or work.state != ReceiptState.DISPUTED:
        return _drop(row, now)
    try:
        rejected = marketplace.reject(row.session.session_id, row.reason)
    except MarketplaceError as error:
        if not error.permanent:
            raise
        return _fail(row, f"The marketplace refused: {error}", now)
    if not rejected:
        return _fail(row, "The marketplace had approved the work before.", now)
    with transaction.atomic():
        why = "Done: the worker can read the reason."
        advanced = row.advance(
            RejectionState.REJECTED, by=MARKETPLACE, why=why, now=now, asked_at=now
        )
        if not advanced or not payments.change_state(
            work, [ReceiptState.DISPUTED], ReceiptState.REJECTED
        ):
            # Somebody else was quicker: the next round looks at what it is now.
            transaction.set_rollback(True)
            return False
        Posting.objects.filter(pk=row.session.posting_id).update(state=PostingState.REJECTED)
        payments.withhold(work, now)
    return True


def _drop(row: Rejection, now: datetime) -> bool:
    """End a rejection whose object is gone; what was handed in waits to be paid or is decided."""
    with transaction.atomic():
        why = "What it was agreed for is no longer there: look at the work anew."
        row.advance(RejectionState.FAILED, by=CLOCK, why=why, now=now)
    return False


def _fail(row: Rejection, why: str, now: datetime) -> bool:
    with transaction.atomic():
        if row.advance(RejectionState.FAILED, by=MARKETPLACE, why=why, now=now):
            approve_instead(row, MARKETPLACE, now)
    return False


def restore(collection: Collection, now: datetime) -> int:
    """Have the marketplace approve every rejection that was taken back; returns how many it did.

    Raises MarketplaceError when it does not answer; the next round goes on from there.
    """
    taken_back = _rejections(collection, RejectionState.RESTORING)
    return marketplace.one_by_one(taken_back, lambda row: _restore(row, now))


def _restore(row: Rejection, now: datetime) -> bool:
    work = work_on(row.session)
    assert work is not None
    try:
        marketplace.approve(row.session.session_id, override=True)
    except MarketplaceError as error:
        if not error.permanent:
            raise
        with transaction.atomic():
            why = f"The marketplace refused to take it back: {error}"
            if row.advance(RejectionState.REJECTED, by=MARKETPLACE, why=why, now=now):
                payments.withhold(work, now)
        return False
    with transaction.atomic():
        why = "Done: the worker is paid."
        restored = row.advance(RejectionState.RESTORED, by=MARKETPLACE, why=why, now=now)
        if restored:
            payments.mark_approved(work, ReceiptState.REJECTED, now)
    marketplace.finish_hit(row.session.posting.external_id)
    return restored


def find_approved(collection: Collection, now: datetime) -> int:
    """Owe what the marketplace has approved after we rejected it; returns how many.

    It does so when nobody answers a worker's contest. After a while a rejection is final.
    """
    unasked = Q(asked_at__isnull=True) | Q(asked_at__lte=now - ASK_EVERY)
    rejected = _rejections(collection, RejectionState.REJECTED).filter(unasked)
    return marketplace.one_by_one(rejected, lambda row: _look_up(row, now))


def _look_up(row: Rejection, now: datetime) -> bool:
    found = False
    if marketplace.status_of(row.session.session_id) == "Approved":
        found = _approved_elsewhere(row, now)
    elif _told_at(row) <= now - FINAL_AFTER:
        _close(row, now)
    Rejection.objects.filter(pk=row.pk).update(asked_at=now)
    return found


def _told_at(row: Rejection) -> datetime:
    """Return when the marketplace rejected it: the worker's time to contest runs from there."""
    step = row.steps.filter(state=RejectionState.REJECTED).order_by("at", "id").first()
    assert step is not None
    return step.at


def _approved_elsewhere(row: Rejection, now: datetime) -> bool:
    work = work_on(row.session)
    assert work is not None
    with transaction.atomic():
        why = "Approved there, as when a worker's contest stays unanswered: the work is paid."
        restored = row.advance(RejectionState.RESTORED, by=MARKETPLACE, why=why, now=now)
        if restored:
            # It is paid whatever the cap says.
            payments.owe_again(work, MARKETPLACE, now, within_budget=False)
            payments.mark_approved(work, ReceiptState.REJECTED, now)
    return restored


def _close(row: Rejection, now: datetime) -> None:
    marketplace.finish_hit(row.session.posting.external_id)
    with transaction.atomic():
        why = "The time to contest it or to take it back is over."
        row.advance(RejectionState.FINAL, by=CLOCK, why=why, now=now)


def _rejections(collection: Collection, state: RejectionState) -> QuerySet[Rejection]:
    rows = Rejection.objects.filter(session__posting__stage__collection=collection, state=state)
    return rows.select_related("session__posting__stage__collection").order_by("id")
