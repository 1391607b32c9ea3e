"""How long handed-in work waits until it is paid by itself: as was said when it was begun.

The list of HITs says what held when the HIT was posted: where that is less, that is promised.
"""

from datetime import datetime, timedelta

from django.db.models import Q

from collector.models import Collection
from collector.protocols.parameters import Parameters
from tasks.models import Lease, LeaseState, ReceiptState, Submission

KEY = "pay.approve_after_hours"


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
