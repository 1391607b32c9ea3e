"""Asks the marketplace what it knows and brings our rows to the same truth; safe to run twice."""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q

from collector.models import Collection, Stage
from collector.protocols.creation import parameters_of
from common.trace import assignment_digest, steps, traced
from tasks import hits
from tasks.crowd import marketplace
from tasks.crowd.requester_api import MarketplaceError
from tasks.ledger import payments
from tasks.ledger.pay_terms import is_ripe
from tasks.ledger.payments import Work, change_state, mark_approved
from tasks.models import (
    EmptySubmission,
    Lease,
    LeaseState,
    Payment,
    PaymentState,
    Posting,
    PostingState,
    ReceiptState,
    Session,
    Submission,
)
from tasks.paying import empty_submissions
from tasks.paying.compensation import open_posting
from tasks.work import leases

log = logging.getLogger(__name__)
# A receipt the marketplace does not list after this long never arrived.
LOST_AFTER = timedelta(hours=1)
# Nobody asks the marketplace about a worker who has saved, or was there, within this time.
QUIET = timedelta(minutes=3)
# How many confirmed ones are paid before more are asked about.
FEW = 5
LONGEST_REFUSAL = 500


def confirm_submissions(
    collection: Collection, now: datetime, pay: Callable[[], None] = lambda: None
) -> int:
    """Confirm every submission that the marketplace lists for its worker; returns how many.

    pay: pays for what is confirmed, whenever that is a few more.
    """
    open_states = [PostingState.LIVE, PostingState.SUBMITTED]
    held = Q(sessions__leases__submission__state=ReceiptState.HELD)
    types = (
        Posting.objects.filter(Q(state__in=open_states) | held, stage__collection=collection)
        .exclude(external_type="")
        .values_list("external_type", flat=True)
        .distinct()
        .order_by()
    )
    n_confirmed = 0

    def confirm(assignment: marketplace.Assignment) -> int:
        nonlocal n_confirmed
        before, n_new = n_confirmed, _confirm(assignment, now)
        n_confirmed += n_new
        if n_confirmed // FEW > before // FEW:
            pay()
        return n_new

    def confirm_listed(type_id: str) -> int:
        return marketplace.one_by_one(marketplace.submitted_assignments(type_id), confirm)

    return marketplace.one_by_one(types, confirm_listed)


def _confirm(assignment: marketplace.Assignment, now: datetime) -> int:
    posting = (
        Posting.objects.select_related("stage__collection")
        .filter(
            provider=marketplace.PROVIDER,
            environment=marketplace.environment(),
            external_id=assignment.hit_id,
        )
        .first()
    )
    if posting is None:
        return 0
    if posting.state == PostingState.SETTLED:
        # Its deletion was cut off.
        marketplace.finish_hit(assignment.hit_id)
        return 0
    if posting.worker_id:
        return _settle_compensation(posting, assignment, now)
    session = empty_submissions.session_of(posting, assignment)
    works = list(Submission.objects.filter(lease__session=session)) if session else []
    if not works:
        empty_submissions.record(posting, assignment, now)
    held = [work for work in works if work.state == ReceiptState.HELD]
    return sum(_confirm_work(work, posting, now) for work in held)


def _confirm_work(submission: Submission, posting: Posting, now: datetime) -> int:
    """Confirm what is held, as the last step: whatever is cut off before is done again."""
    # A receipt that turned up late is paid where it was handed in, not by a HIT of its own too.
    for payment in submission.payments.filter(state=PaymentState.DUE).exclude(posting=posting):
        other = payment.posting
        if other is not None and other.external_id:
            marketplace.expire_hit(other.external_id)
        with transaction.atomic():
            Payment.objects.filter(pk=payment.pk).update(posting=posting)
            if other is not None:
                Posting.objects.filter(pk=other.pk).update(state=PostingState.EXPIRED)
    empty_submissions.forget(submission.session, now)
    confirmed, session = ReceiptState.CONFIRMED, submission.session
    n = payments.change_state(submission, [ReceiptState.HELD], confirmed, confirmed_at=now)
    if n:
        with traced(lease=submission.lease_id, assignment=assignment_digest(session.session_id)):
            steps.info("confirmed by the marketplace")
    return n


def _settle_compensation(
    posting: Posting, assignment: marketplace.Assignment, now: datetime
) -> int:
    due = Payment.objects.filter(posting=posting, state=PaymentState.DUE)
    # Nobody else can take it: the person it is listed for is the worker, by whatever id.
    if not due.exists():
        log.warning("The compensation HIT %s was handed in with nothing due.", assignment.hit_id)
        return 0
    marketplace.approve(assignment.assignment_id)
    with transaction.atomic():
        settled = payments.advance(due, PaymentState.CONFIRMED, confirmed_at=now)
        Submission.objects.filter(payments__posting=posting).update(state=ReceiptState.APPROVED)
        Posting.objects.filter(pk=posting.pk).update(state=PostingState.SETTLED)
    marketplace.finish_hit(posting.external_id)
    return settled


def find_returned(collection: Collection, now: datetime) -> int:
    """End the leases of HITs that their workers have returned; their drafts stay."""
    quiet = Lease.objects.filter(
        Q(draft_saved_at__lt=now - QUIET)
        | Q(draft_saved_at__isnull=True, taken_at__lt=now - QUIET),
        unit__stage__collection=collection,
        state=LeaseState.LIVE,
    ).exclude(ticket__connections__gt=0, ticket__seen_at__gt=now - QUIET)
    quiet = quiet.select_related("session__posting")
    return marketplace.one_by_one(quiet, lambda lease: _end_returned(lease, now))


def free_returned(session: Session, stage: Stage, now: datetime) -> int:
    """End the leases of other HITs of the stage that the session's worker has returned.

    Who takes another HIT of the kind goes on where they stopped. A marketplace that does not answer
    is asked again by `find_returned`.
    """
    others = Lease.objects.filter(
        worker_id=session.worker_id, unit__stage=stage, state=LeaseState.LIVE
    ).exclude(session=session)
    leased = others.select_related("session__posting")
    try:
        return marketplace.one_by_one(leased, lambda lease: _end_returned(lease, now))
    except MarketplaceError as error:
        log.warning("Nobody can say whether a HIT was returned: %s", error)
        return 0


def _end_returned(lease: Lease, now: datetime) -> bool:
    if not marketplace.is_vacant(lease.session.posting.external_id):
        return False
    # After the deadline it was the time that ran out, and what was saved is paid.
    out_of_time = lease.expires_at <= now
    return leases.end(lease, LeaseState.EXPIRED if out_of_time else LeaseState.RETURNED, now)


def expire_postings(collection: Collection, now: datetime) -> int:
    """End the postings whose time on the marketplace is over and that nobody works on."""
    overdue = Posting.objects.filter(
        stage__collection=collection,
        state=PostingState.LIVE,
        expires_at__lt=now,
        worker__isnull=True,
    ).exclude(sessions__leases__state=LeaseState.LIVE)
    return marketplace.one_by_one(overdue, _expire_vacant)


def _expire_vacant(posting: Posting) -> int:
    """Let the money go once nobody can earn it: the marketplace's clock decides, not ours."""
    marketplace.expire_hit(posting.external_id)
    return hits.expire(posting) if marketplace.is_vacant(posting.external_id) else 0


def reroute_lost(collection: Collection, now: datetime) -> int:
    """Give every submission whose receipt was lost a HIT of its own to be paid by."""
    lost = Submission.objects.filter(
        lease__unit__stage__collection=collection,
        state=ReceiptState.HELD,
        received_at__lt=now - LOST_AFTER,
        lease__expires_at__lt=now,
        payments__posting__worker__isnull=True,
        payments__state=PaymentState.DUE,
    ).select_related("lease__session__posting", "lease__unit__stage__collection")
    return marketplace.one_by_one(lost.distinct(), lambda work: _reroute_unless_listed(work, now))


def _reroute_unless_listed(submission: Submission, now: datetime) -> int:
    session, posting = submission.session, submission.session.posting
    if posting.state != PostingState.LIVE:
        # Nobody may take the place again: its work is in and its money is spent.
        marketplace.expire_hit(posting.external_id)
    listed = marketplace.assignments_of(posting.external_id)
    if any(empty_submissions.session_of(posting, row) == session for row in listed):
        return 0
    return reroute(submission, now)


def reroute(submission: Submission, now: datetime) -> int:
    """Let a HIT of the worker's own pay what this one cannot; returns 1, or 0 if one does.

    Locks the submission's payment while it is due; nobody is called.
    """
    with transaction.atomic():
        payment = (
            Payment.objects.select_for_update(of=("self",))
            .filter(submission=submission, state=PaymentState.DUE, posting__worker__isnull=True)
            .first()
        )
        if payment is None:
            return 0
        payment.posting = open_posting(
            submission.lease, payment.amount_cents, f"reroute:{payment.pk}", now
        )
        payment.save(update_fields=["posting"])
    return 1


def approve_confirmed(collection: Collection, now: datetime) -> int:
    """Approve every confirmed submission whose waiting time is over; returns how many.

    With them goes what was handed in without work and what a crash cut off half-way.
    """
    ripe = is_ripe(collection, parameters_of(collection), now)
    confirmed = Submission.objects.filter(
        ripe | Q(state=ReceiptState.APPROVING),
        lease__unit__stage__collection=collection,
    ).select_related("lease__session__posting")
    empty = EmptySubmission.objects.filter(
        session__posting__stage__collection=collection, state=ReceiptState.APPROVING
    ).select_related("session__posting")
    works: list[Work] = [*confirmed.order_by("id"), *empty]
    return sum(_approve(work, now) for work in works)


def _approve(work: Work, now: datetime) -> int:
    """Approve one; what the marketplace refuses for good is put aside, seen by people."""
    followed: dict[str, object] = {"assignment": assignment_digest(work.session.session_id)}
    if isinstance(work, Submission):
        followed["lease"] = work.lease_id
    with traced(**followed):
        states = (ReceiptState.CONFIRMED, ReceiptState.APPROVING)
        if not change_state(work, states, ReceiptState.APPROVING):
            # Somebody has proposed to reject it since it was picked.
            return 0
        try:
            marketplace.approve(work.session.session_id)
        except MarketplaceError as error:
            if not error.permanent:
                raise
            log.warning("Submission %s cannot be approved: %s", work.pk, error)
            refused = str(error)[:LONGEST_REFUSAL]
            change_state(work, states, ReceiptState.REFUSED, refusal=refused)
            return 0
        mark_approved(work, ReceiptState.APPROVING, now)
        marketplace.finish_hit(work.session.posting.external_id)
        return 1
