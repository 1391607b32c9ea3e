"""Asks the marketplace what it knows and brings our rows to the same truth; safe to run twice."""

import logging
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q

from collector.models import Collection
from tasks import hits, leases
from tasks.compensation import open_posting
from tasks.crowd import marketplace
from tasks.models import (
    Lease,
    LeaseState,
    Payment,
    PaymentState,
    Posting,
    PostingState,
    ReceiptState,
    Submission,
)

log = logging.getLogger(__name__)
# A receipt the marketplace does not list after this long never arrived.
LOST_AFTER = timedelta(hours=1)
# Nobody asks the marketplace about a worker who has saved within this time.
QUIET = timedelta(minutes=3)


def confirm_submissions(collection: Collection, now: datetime) -> int:
    """Confirm every submission that the marketplace lists for its worker; returns how many."""
    types = (
        Posting.objects.filter(
            stage__collection=collection,
            state__in=[PostingState.LIVE, PostingState.SUBMITTED],
        )
        .exclude(external_type="")
        .values_list("external_type", flat=True)
        .distinct()
        .order_by()
    )
    return sum(
        _confirm(assignment, now)
        for type_id in types
        for assignment in marketplace.submitted_assignments(type_id)
    )


def _confirm(assignment: marketplace.Assignment, now: datetime) -> int:
    posting = Posting.objects.filter(
        provider=marketplace.PROVIDER,
        environment=marketplace.environment(),
        external_id=assignment.hit_id,
    ).first()
    if posting is None:
        return 0
    if posting.worker_id:
        return _settle_compensation(posting, assignment, now)
    # The marketplace hands an assignment's id to the next worker: only the pair is a key.
    confirmed = Submission.objects.filter(
        lease__session__posting=posting,
        lease__session__session_id=assignment.assignment_id,
        lease__session__person=assignment.person,
        state=ReceiptState.HELD,
    ).update(state=ReceiptState.CONFIRMED, confirmed_at=now)
    if not confirmed and not Submission.objects.filter(lease__session__posting=posting).exists():
        log.warning("HIT %s was handed in without any work we know of.", assignment.hit_id)
    return confirmed


def _settle_compensation(
    posting: Posting, assignment: marketplace.Assignment, now: datetime
) -> int:
    if posting.worker.identity.person != assignment.person:  # type: ignore[union-attr]
        log.warning("A compensation HIT was handed in by somebody else: %s", assignment.hit_id)
        return 0
    marketplace.approve(assignment.assignment_id)
    with transaction.atomic():
        settled = Payment.objects.filter(posting=posting, state=PaymentState.DUE).update(
            state=PaymentState.CONFIRMED, confirmed_at=now
        )
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
    ).select_related("session__posting")
    returned = 0
    for lease in quiet:
        if marketplace.is_vacant(lease.session.posting.external_id):
            returned += leases.end(lease, LeaseState.RETURNED, now)
    return returned


def expire_postings(collection: Collection, now: datetime) -> int:
    """End the postings whose time on the marketplace is over and that nobody works on."""
    overdue = Posting.objects.filter(
        stage__collection=collection,
        state=PostingState.LIVE,
        expires_at__lt=now,
        worker__isnull=True,
    ).exclude(sessions__leases__state=LeaseState.LIVE)
    return sum(hits.expire(posting) for posting in overdue)


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
    rerouted = 0
    for submission in lost.distinct():
        session = submission.lease.session
        listed = {
            (row.assignment_id, row.person)
            for row in marketplace.assignments_of(session.posting.external_id)
        }
        if (session.session_id, session.person) not in listed:
            rerouted += _reroute(submission, now)
    return rerouted


def _reroute(submission: Submission, now: datetime) -> int:
    with transaction.atomic():
        payment = (
            Payment.objects.select_for_update()
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
