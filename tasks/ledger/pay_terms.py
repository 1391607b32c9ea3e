"""When handed-in work is paid automatically, and until when and for what it can be rejected.

The list of HITs shows the waiting time that held when the HIT was posted. If that is shorter, it is
what workers are promised.
"""

from datetime import datetime, timedelta
from math import ceil

from django.db.models import Q

from collector.models import Collection
from collector.protocols.parameters import Parameters
from tasks.models import Lease, LeaseState, ReceiptState, Submission

KEY = "pay.approve_after_hours"
# The marketplace's own limits for contests.
CONTESTED_WITHIN_DAYS = 30
ANSWERED_WITHIN_DAYS = 7


def hours_of(lease: Lease, parameters: Parameters) -> float:
    """Return the hours that a lease's work waits after the marketplace has confirmed it."""
    said = (lease.taken_at, lease.session.posting.created_at)
    return hours_said(lease.unit.stage.collection, parameters, *said)


def hours_said(collection: Collection, parameters: Parameters, *said: datetime) -> float:
    """Return the fewest waiting hours of those that held at these times."""
    held = _hours_by_time(collection, parameters)
    return min(
        next(hours for hours, until in held if until is None or said_at < until) for said_at in said
    )


def is_ripe(collection: Collection, parameters: Parameters, now: datetime) -> Q:
    """Return the condition for confirmed submissions whose waiting time is over."""
    ripe, held = Q(pk__in=()), _hours_by_time(collection, parameters)
    # If the hours never changed, the first time is enough.
    times = ("lease__taken_at", "lease__session__posting__created_at")[: len(held)]
    for said_at in times:
        since = Q()
        for hours, until in held:
            said = since if until is None else since & Q(**{f"{said_at}__lt": until})
            # With 0 hours nothing waits, not even work that a fast clock confirmed in the future.
            over = Q(confirmed_at__lte=now - timedelta(hours=hours)) if hours else Q()
            ripe |= Q(state=ReceiptState.CONFIRMED) & said & over
            since = Q(**{f"{said_at}__gte": until})
    return ripe


def n_under_way(collection: Collection) -> int:
    """Return the number of leases whose work is begun or handed in, and not decided."""
    of_stage = Q(unit__stage__collection=collection)
    waits = (ReceiptState.HELD, ReceiptState.CONFIRMED, ReceiptState.DISPUTED)
    handed_in = Submission.objects.filter(state__in=waits).values("lease")
    return Lease.objects.filter(of_stage, Q(state=LeaseState.LIVE) | Q(pk__in=handed_in)).count()


def _hours_by_time(
    collection: Collection, parameters: Parameters
) -> list[tuple[float, datetime | None]]:
    """Return each number of hours that held, with the time it ended; None for the present one."""
    changes = collection.revisions.filter(key=KEY).order_by("pk").values_list("old", "at")
    return [*changes, (parameters.pay.approve_after_hours, None)]


def hours_to_reject(parameters: Parameters) -> float:
    """Return the most hours after handing in during which work of every stage can be rejected."""
    by_marketplace = (24 * table.auto_approval_days for table in parameters.stages().values())
    return min(parameters.pay.approve_after_hours, *by_marketplace)


def minutes_to_reject(parameters: Parameters) -> int:
    """Return the same in whole minutes, rounded up, for the marketplace; 0 only for never."""
    return ceil(60 * hours_to_reject(parameters))


def told_workers(parameters: Parameters) -> str:
    """Return in whole sentences what a worker is promised."""
    hours = hours_to_reject(parameters)
    if not hours:
        return "Work that you submit is paid: nothing is rejected."
    return (
        f"Work that you submit is paid by itself {_words(hours)} after the marketplace has "
        "confirmed it, unless somebody who has read it proposes before then to reject it. The "
        "only ground is that it does not do what the HIT asks, such as random, copied or empty "
        "work. A second person has to agree, or the same one a day later. You are then told the "
        f"reason in a message, and can contest it on the HIT's page for {CONTESTED_WITHIN_DAYS} "
        f"days; if nobody answers you within {ANSWERED_WITHIN_DAYS} days, the work is paid."
    )


def told_requester(parameters: Parameters) -> str:
    """Return in whole sentences what a requester can still do about work that was handed in."""
    hours = hours_to_reject(parameters)
    if not hours:
        return (
            "Nothing can be rejected: work is paid as soon as the marketplace confirms it, and "
            "workers read so. To read it first, set the hours before work is paid "
            "(pay.approve_after_hours)."
        )
    return (
        f"Work that does not do what the HIT asks can be rejected within {_words(hours)} of the "
        "marketplace confirming it; then it is paid by itself. A proposed rejection needs a second "
        "person, or a day. Workers read so, and can contest it."
    )


def _words(hours: float) -> str:
    return f"{hours:g} {'hour' if hours == 1 else 'hours'}"
