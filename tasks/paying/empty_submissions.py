"""What was handed in on the marketplace without work: kept, paid or rejected, never forgotten."""

import logging
from datetime import datetime

from django.db import transaction
from django.db.models import Q

from collector.models import Collection
from tasks.crowd import marketplace
from tasks.ledger import payments
from tasks.models import (
    EmptySubmission,
    Lease,
    LeaseState,
    Posting,
    PostingState,
    ReceiptState,
    Rejection,
    RejectionState,
    Session,
)
from tasks.models.money import ELSEWHERE, TAKEN_BACK_WITHIN
from tasks.people.entry import Entry, open_session

log = logging.getLogger(__name__)
MARKETPLACE = "the marketplace"
TURNED_UP = "The work that was missing has come."


def record(posting: Posting, assignment: marketplace.Assignment, now: datetime) -> bool:
    """Put an assignment that came without any work before the requester, its money still held.

    Returns whether it is new. While somebody works on the HIT nothing is said about it.
    """
    if Lease.objects.filter(session__posting=posting, state=LeaseState.LIVE).exists():
        return False
    with transaction.atomic():
        session = _session(posting, assignment, now)
        _, is_new = EmptySubmission.objects.get_or_create(
            session=session,
            defaults={
                "fields": assignment.fields,
                "received_at": assignment.submitted_at,
                "auto_approval_at": assignment.auto_approval_at,
                "found_at": now,
            },
        )
        if is_new:
            Posting.objects.filter(pk=posting.pk).update(state=PostingState.SUBMITTED_EMPTY)
            log.warning("HIT %s was submitted empty.", assignment.hit_id)
    return is_new


def session_of(posting: Posting, assignment: marketplace.Assignment) -> Session | None:
    """Return the stay that an assignment was handed in from, or None if we know of none.

    The marketplace hands an assignment's id to the next worker, so the person tells which. One
    whose account was merged is listed by another id, and one who was erased by an id we no longer
    have: then it is the stay with which something was handed in.
    """
    stays = posting.sessions.filter(session_id=assignment.assignment_id)
    in_time = Q(signed_until__isnull=True) | Q(signed_until__gte=assignment.submitted_at)
    handed_in = Q(leases__submission__isnull=False) | Q(empty_submission__isnull=False)
    own = stays.filter(person=assignment.person).first()
    return own or stays.filter(in_time, handed_in).order_by("-pk").first()


def _session(posting: Posting, assignment: marketplace.Assignment, now: datetime) -> Session:
    held = session_of(posting, assignment)
    if held:
        return held
    # Somebody who never opened our page.
    claimed = Entry(
        hit_id=assignment.hit_id,
        preview=False,
        assignment_id=assignment.assignment_id,
        person=assignment.person,
    )
    return open_session(claimed, posting, now)


def forget(session: Session, now: datetime) -> None:
    """Forget that an assignment came without work: it has turned up, and is paid like any other.

    A rejection of it falls with it, even an agreed one. What was decided before stays decided.
    """
    waiting = [ReceiptState.CONFIRMED, ReceiptState.DISPUTED]
    found = EmptySubmission.objects.filter(session=session, state__in=waiting)
    if not found:
        return
    falls = {
        RejectionState.PROPOSED: RejectionState.WITHDRAWN,
        RejectionState.AGREED: RejectionState.FAILED,
    }
    with transaction.atomic():
        for row in session.rejections.filter(state__in=falls):
            to = falls[RejectionState(row.state)]
            row.advance(to, by=MARKETPLACE, why=TURNED_UP, now=now)
        found.delete()
        Posting.objects.filter(pk=session.posting_id, state=PostingState.SUBMITTED_EMPTY).update(
            state=PostingState.SUBMITTED
        )


def pay(work: EmptySubmission, by: str, now: datetime) -> bool:
    """Decide that it is paid; the next round tells the marketplace. False if it was decided."""
    with transaction.atomic():
        decided = payments.change_state(work, [ReceiptState.CONFIRMED], ReceiptState.APPROVING)
        if decided:
            payments.owe_empty_submission(work, by, now)
    return decided


def find_decided(collection: Collection, now: datetime) -> int:
    """Enter what the marketplace approved by itself, or another program decided; returns how many.

    Asked from the moment on at which the marketplace approves what nobody has decided.
    """
    overdue = EmptySubmission.objects.filter(
        session__posting__stage__collection=collection,
        state=ReceiptState.CONFIRMED,
        auto_approval_at__lte=now,
    ).select_related("session__posting__stage__collection")
    return marketplace.one_by_one(overdue, lambda work: _look_up(work, now))


def _look_up(work: EmptySubmission, now: datetime) -> bool:
    status = marketplace.status_of(work.session.session_id)
    if status == "Approved":
        return pay(work, MARKETPLACE, now)
    return status == "Rejected" and _rejected_elsewhere(work, now)


def _rejected_elsewhere(work: EmptySubmission, now: datetime) -> bool:
    """Enter a rejection that nobody here decided; like any other, it can be taken back."""
    with transaction.atomic():
        if not payments.change_state(work, [ReceiptState.CONFIRMED], ReceiptState.REJECTED):
            return False
        row = Rejection.objects.create(
            session=work.session,
            reason="Another program rejected it on the marketplace, with your account.",
            state=RejectionState.REJECTED,
            proposed_by=ELSEWHERE,
            proposed_at=now,
            alone_from=now,
            holds_until=now + TAKEN_BACK_WITHIN,
            confirmed_by=MARKETPLACE,
            confirmed_at=now,
            take_back_until=work.received_at + TAKEN_BACK_WITHIN,
        )
        row.steps.create(state=row.state, by=ELSEWHERE, why=row.reason, at=now)
        Posting.objects.filter(pk=work.session.posting_id).update(state=PostingState.REJECTED)
        payments.withhold(work, now)
    return True
