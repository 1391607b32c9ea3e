"""Mends a collection's times that a clock which was ahead has written."""

from datetime import datetime
from time import monotonic

from collector.models import Collection
from common.wrong_clocks import pull_back
from tasks.models import (
    Lease,
    LeaseState,
    ReceiptState,
    Rejection,
    RejectionState,
    Submission,
    Ticket,
    TicketState,
)

EVERY_SECONDS = 3600
# When this process looked at a collection last.
_looked: dict[int, float] = {}


def mend_now_and_then(collection: Collection, now: datetime) -> int:
    """Mend the collection's times, unless this process has within the hour."""
    since, at = _looked.get(collection.pk, float("-inf")), monotonic()
    if at - since < EVERY_SECONDS:
        return 0
    _looked[collection.pk] = at
    return mend(collection, now)


def mend(collection: Collection, now: datetime) -> int:
    """Have what would begin later begin now, so that it ends, or is paid, in its own time.

    Returns how many times were mended.
    """
    leases = Lease.objects.filter(unit__stage__collection=collection, state=LeaseState.LIVE)
    work = Submission.objects.filter(
        lease__unit__stage__collection=collection,
        state__in=[ReceiptState.HELD, ReceiptState.CONFIRMED],
    )
    rejections = Rejection.objects.filter(session__posting__stage__collection=collection)
    proposed = rejections.filter(state=RejectionState.PROPOSED)
    tickets = Ticket.objects.filter(stage__collection=collection).exclude(state=TicketState.DONE)
    return (
        pull_back(leases, "draft_saved_at", now)
        + pull_back(leases, "taken_at", now, "expires_at")
        + pull_back(work, "received_at", now)
        + pull_back(work, "confirmed_at", now)
        + pull_back(proposed, "proposed_at", now, "alone_from", "holds_until")
        + pull_back(rejections.filter(state=RejectionState.REJECTED), "asked_at", now)
        + pull_back(tickets, "seen_at", now)
        + pull_back(tickets, "waiting_since", now)
    )
