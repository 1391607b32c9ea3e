"""Approves confirmed work at the marketplace, which pays its reward."""

import logging
from datetime import datetime

from django.db.models import Q

from collector.models import Collection
from collector.protocols.creation import parameters_of
from common.trace import assignment_digest, traced
from tasks.crowd import marketplace
from tasks.crowd.requester_api import MarketplaceError
from tasks.ledger.hours_until_paid import is_ripe
from tasks.ledger.payments import Work, change_state, mark_approved
from tasks.models import EmptySubmission, ReceiptState, Submission

LONGEST_REFUSAL = 500
log = logging.getLogger(__name__)


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
    with traced(**_followed(work)):
        return _approve_followed(work, now)


def _followed(work: Work) -> dict[str, object]:
    found: dict[str, object] = {"assignment": assignment_digest(work.session.session_id)}
    return found | ({"lease": work.lease_id} if isinstance(work, Submission) else {})


def _approve_followed(work: Work, now: datetime) -> int:
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
