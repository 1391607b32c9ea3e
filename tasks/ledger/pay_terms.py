"""When handed-in work is paid by itself, and until when and for what it can be rejected.

The list of HITs says what held when the HIT was posted: where that is less, that is promised.
"""

from datetime import datetime, timedelta
from math import ceil

from django.db.models import Q

from collector.models import Collection
from collector.protocols.parameters import Parameters
from tasks.models import Lease, LeaseState, ReceiptState, Submission

KEY = "pay.approve_after_hours"
# The marketplace's own, which its contests keep to.
CONTESTED_WITHIN_DAYS = 30
ANSWERED_WITHIN_DAYS = 7


def hours_of(lease: Lease, parameters: Parameters) -> float:
    """Return how many hours the work of a lease waits once the marketplace has confirmed it."""
    said = (lease.taken_at, lease.session.posting.created_at)
    return hours_said(lease.unit.stage.collection, parameters, *said)


def hours_said(collection: Collection, parameters: Parameters, *said: datetime) -> float:
    """Return the fewest hours that work was to wait, of what held at these times."""
    held = _hours_by_time(collection, parameters)
    return min(
        next(hours for hours, until in held if until is None or said_at < until) for said_at in said
    )


def is_ripe(collection: Collection, parameters: Parameters, now: datetime) -> Q:
    """Return the condition of confirmed submissions whose time to wait is over."""
    ripe, held = Q(pk__in=()), _hours_by_time(collection, parameters)
    # Without a change both times tell the same.
    times = ("lease__taken_at", "lease__session__posting__created_at")[: len(held)]
    for said_at in times:
        since = Q()
        for hours, until in held:
            said = since if until is None else since & Q(**{f"{said_at}__lt": until})
            # Where nobody waits, neither does what a clock confirmed that was ahead.
            over = Q(confirmed_at__lte=now - timedelta(hours=hours)) if hours else Q()
            ripe |= Q(state=ReceiptState.CONFIRMED) & said & over
            since = Q(**{f"{said_at}__gte": until})
    return ripe


def n_under_way(collection: Collection) -> int:
    """Return how much work is begun or handed in, and not decided about."""
    of_stage = Q(unit__stage__collection=collection)
    waits = (ReceiptState.HELD, ReceiptState.CONFIRMED, ReceiptState.DISPUTED)
    handed_in = Submission.objects.filter(state__in=waits).values("lease")
    return Lease.objects.filter(of_stage, Q(state=LeaseState.LIVE) | Q(pk__in=handed_in)).count()


def _hours_by_time(
    collection: Collection, parameters: Parameters
) -> list[tuple[float, datetime | None]]:
    """Return every number of hours that held, and until when; the last holds now, until None."""
    changes = collection.revisions.filter(key=KEY).order_by("pk").values_list("old", "at")
    return [*changes, (parameters.pay.approve_after_hours, None)]


def hours_to_reject(parameters: Parameters) -> float:
    """Return how long after it was handed in work of every stage can be rejected, at most."""
    by_marketplace = (24 * table.auto_approval_days for table in parameters.stages().values())
    return min(parameters.pay.approve_after_hours, *by_marketplace)


def minutes_to_reject(parameters: Parameters) -> int:
    """Return the same in whole minutes, as the marketplace tells it: 0 for never alone."""
    return ceil(60 * hours_to_reject(parameters))


def told_workers(parameters: Parameters) -> str:
    """Return what a worker is promised, in whole sentences."""
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
    """Return what a requester can still do about work that was handed in, in whole sentences."""
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
