"""Rejecting: one proposes, another confirms or the same one a day later; told to the provider."""

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q, QuerySet

from collector.models import Collection
from collector.protocols.creation import parameters_of
from common.actions import ActionError
from tasks.crowd import marketplace
from tasks.crowd.requester_api import MarketplaceError
from tasks.ledger import payments
from tasks.ledger.pay_terms import hours_of, hours_said
from tasks.models import (
    EmptySubmission,
    Posting,
    PostingState,
    ReceiptState,
    Rejection,
    RejectionState,
    Session,
    Submission,
)
from tasks.models.money import TAKEN_BACK_WITHIN
from tasks.paying import empty_submissions
from tasks.paying.empty_submissions import MARKETPLACE

ALONE_AFTER = timedelta(hours=24)
HELD_FOR = timedelta(days=7)
# The marketplace takes no more.
LONGEST_REASON = 1024
DECIDED = "Somebody else has just decided it: look at the newest step below."
WHY_NOT = {
    ReceiptState.HELD: "The marketplace has not confirmed this work yet. Try again in a minute.",
    ReceiptState.APPROVING: "It is being paid: work that is approved cannot be rejected.",
    ReceiptState.APPROVED: "It is paid: work that is approved cannot be rejected.",
    ReceiptState.REFUSED: "The marketplace refused to pay it. Deal with that first, under Money.",
    ReceiptState.DISPUTED: "A rejection is proposed already: confirm or withdraw that one.",
    ReceiptState.REJECTED: "It is rejected already.",
}
CLOCK = "the clock"
# A worker may contest for thirty days, and the contest be answered in seven.
FINAL_AFTER = timedelta(days=38)
# How often the marketplace is asked whether it has approved what was rejected.
ASK_EVERY = timedelta(hours=1)


def work_on(session: Session) -> payments.Work | None:
    """Return what was handed in with an assignment: work, or the note that none came; or None."""
    found: payments.Work | None = (
        EmptySubmission.objects.filter(session=session).first()
        or Submission.objects.filter(lease__session=session).order_by("-counts", "-pk").first()
    )
    return found


def propose(session: Session, reason: str, by: str, now: datetime) -> Rejection:
    """Return the proposal to reject an assignment, which holds its approval for a while.

    Raises ActionError without a reason and for what is not waiting to be paid.
    """
    reason = _said(reason, "Write the reason: the worker reads it.")
    if len(reason) > LONGEST_REASON:
        over = len(reason) - LONGEST_REASON
        raise ActionError(
            f"The marketplace takes {LONGEST_REASON:,} characters: shorten the reason by {over}."
        )
    with transaction.atomic():
        work = work_on(session)
        if work is None:
            raise ActionError("Nothing was handed in with this HIT.")
        if not payments.change_state(work, [ReceiptState.CONFIRMED], ReceiptState.DISPUTED):
            work.refresh_from_db()
            raise ActionError(WHY_NOT[ReceiptState(work.state)])
        if not can_be_rejected(work):
            raise ActionError(
                "Nothing can be rejected: the worker who took this HIT was promised that all is "
                "paid."
            )
        holds_until = _holds_until(work, now)
        if holds_until <= now:
            raise ActionError("The time to reject it is over: it is about to be paid.")
        row = Rejection.objects.create(
            session=session,
            reason=reason,
            proposed_by=by,
            proposed_at=now,
            alone_from=now + ALONE_AFTER,
            holds_until=holds_until,
            take_back_until=work.received_at + TAKEN_BACK_WITHIN,
        )
        row.steps.create(state=row.state, by=by, why=reason, at=now)
    return row


def can_be_rejected(work: payments.Work) -> bool:
    """Return whether a worker was told that this could be rejected: with 0 hours nothing can."""
    collection = work.session.posting.stage.collection
    parameters = parameters_of(collection)
    if isinstance(work, EmptySubmission):
        session = work.session
        # Of somebody who never opened our page we know only when they handed in.
        begun = min(session.started_at, work.received_at)
        return hours_said(collection, parameters, begun, session.posting.created_at) > 0
    return hours_of(work.lease, parameters) > 0


def _said(text: str, otherwise: str) -> str:
    text = text.replace("\x00", "").replace("\r\n", "\n").strip()
    if not text:
        raise ActionError(otherwise)
    return text


def _holds_until(work: payments.Work, now: datetime) -> datetime:
    """Return how long its approval waits: a withdrawn proposal's time is not given again."""
    first = work.session.rejections.order_by("proposed_at").first()
    held = (first.proposed_at if first else now) + HELD_FOR
    if isinstance(work, EmptySubmission):
        return min(held, work.auto_approval_at)
    stage = work.lease.unit.stage
    table = parameters_of(stage.collection).stages()[stage.name]
    return min(held, work.received_at + timedelta(days=table.auto_approval_days))


def withdraw(row: Rejection, why: str, by: str, now: datetime) -> None:
    """Take a proposal back before it is confirmed; the work waits to be paid as before.

    Raises ActionError without a reason, or for one that is decided already.
    """
    why = _said(why, "Say why: it is logged beside your name.")
    _expect(row, RejectionState.PROPOSED)
    with transaction.atomic():
        if not row.advance(RejectionState.WITHDRAWN, by=by, why=why, now=now):
            raise ActionError(DECIDED)
        _release(row, ReceiptState.CONFIRMED)


def confirm(row: Rejection, why: str, by: str, now: datetime) -> None:
    """Agree to a proposal; the next round of the jobs tells the marketplace.

    Raises ActionError for the one who proposed it before a day has passed, and when the time
    to decide is over.
    """
    why = _said(why, "Say why you agree: it is logged beside your name.")
    _expect(row, RejectionState.PROPOSED)
    if row.holds_until <= now:
        raise ActionError("The time to decide is over: the work is about to be paid.")
    if row.proposed_by == by and now < row.alone_from:
        raise ActionError(
            "You proposed it yourself: somebody else has to confirm it, or you a day later."
        )
    with transaction.atomic():
        agreed = row.advance(
            RejectionState.AGREED,
            by=by,
            why=why,
            now=now,
            provided=(~Q(proposed_by=by) | Q(alone_from__lte=now)) & Q(holds_until__gt=now),
            confirmed_by=by,
            confirmed_at=now,
        )
    if not agreed:
        raise ActionError(DECIDED)


def take_back(row: Rejection, why: str, by: str, now: datetime) -> None:
    """Owe the reward again and have the marketplace approve what was rejected.

    Raises ActionError when the budget cannot hold it, or the marketplace's time is over.
    """
    why = _said(why, "Say why: it is logged beside your name.")
    if row.state == RejectionState.AGREED:
        raise ActionError("The marketplace is being told. Take it back in a minute.")
    _expect(row, RejectionState.REJECTED)
    if row.take_back_until <= now:
        raise ActionError(
            f"The marketplace takes a rejection back for {TAKEN_BACK_WITHIN.days} days after the "
            "work was handed in, and they are over. Pay the worker in another way."
        )
    work = work_on(row.session)
    assert work is not None
    with transaction.atomic():
        if not row.advance(RejectionState.RESTORING, by=by, why=why, now=now):
            raise ActionError(DECIDED)
        if not payments.owe_again(work, by, now, within_budget=True):
            raise ActionError(
                "The budget cannot hold the reward again: raise it, then take the rejection back."
            )


def _expect(row: Rejection, state: RejectionState) -> None:
    if row.state != state:
        raise ActionError(DECIDED)


def _release(row: Rejection, to: ReceiptState) -> None:
    """End the hold on the work of a proposal that came to nothing; expects a transaction."""
    work = work_on(row.session)
    assert work is not None
    payments.change_state(work, [ReceiptState.DISPUTED], to)


def approve_instead(row: Rejection, by: str, now: datetime) -> None:
    """Let work be paid whose rejection came to nothing; expects a transaction."""
    _release(row, ReceiptState.CONFIRMED)
    work = work_on(row.session)
    if isinstance(work, EmptySubmission):
        empty_submissions.pay(work, by, now)


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
        # What was handed in waits to be paid, or is decided.
        with transaction.atomic():
            why = "What it was agreed for is no longer there: look at the work anew."
            row.advance(RejectionState.FAILED, by=CLOCK, why=why, now=now)
        return False
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
        work = work_on(row.session)
        assert work is not None
        with transaction.atomic():
            why = "Approved there, as when a worker's contest stays unanswered: the work is paid."
            restored = row.advance(RejectionState.RESTORED, by=MARKETPLACE, why=why, now=now)
            if restored:
                # It is paid whatever the cap says.
                payments.owe_again(work, MARKETPLACE, now, within_budget=False)
                payments.mark_approved(work, ReceiptState.REJECTED, now)
        found = restored
    elif _told_at(row) <= now - FINAL_AFTER:
        marketplace.finish_hit(row.session.posting.external_id)
        with transaction.atomic():
            why = "The time to contest it or to take it back is over."
            row.advance(RejectionState.FINAL, by=CLOCK, why=why, now=now)
    Rejection.objects.filter(pk=row.pk).update(asked_at=now)
    return found


def _told_at(row: Rejection) -> datetime:
    """Return when the marketplace rejected it: the worker's time to contest runs from there."""
    step = row.steps.filter(state=RejectionState.REJECTED).order_by("at", "id").first()
    assert step is not None
    return step.at


def _rejections(collection: Collection, state: RejectionState) -> QuerySet[Rejection]:
    rows = Rejection.objects.filter(session__posting__stage__collection=collection, state=state)
    return rows.select_related("session__posting__stage__collection").order_by("id")
