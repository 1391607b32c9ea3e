"""The HITs a worker can take, and those still closed to them with the reason."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Max
from django.http import HttpResponse
from django.views.decorators.http import require_safe

from marketplace import clock
from marketplace.acceptance import available_hits
from marketplace.lifecycle import settle_due
from marketplace.models import Assignment, HITType, State, Worker
from marketplace.requirements import Access, access_to, custom_types_of, standing_of
from marketplace.site.pages import SignedInRequest, show, worker_page
from marketplace.site.reasons import Reason, reason_for


@dataclass(frozen=True)
class Group:
    """HITs of one type: how many there are for this worker, and what is in the way."""

    kind: HITType
    n_available: int
    access: Access
    reasons: list[Reason]


@worker_page
@require_safe
def available(request: SignedInRequest) -> HttpResponse:
    """Show what is available to me, newest first, then what is not yet and why."""
    now = clock.now()
    groups = groups_for(request.worker, now)
    held = Assignment.objects.filter(worker=request.worker, state=State.ACCEPTED, deadline__gt=now)
    return show(
        request,
        "available.html",
        here="available",
        open_groups=[group for group in groups if group.access.can_accept],
        closed_groups=[group for group in groups if not group.access.can_accept],
        held=held.select_related("hit__hit_type__requester").order_by("deadline"),
    )


def groups_for(worker: Worker, now: datetime) -> list[Group]:
    """Return the groups this worker may know of, newest first, in a constant number of queries."""
    settle_due(now, disposed_at=None, n_pending__gt=0)
    counts = (
        available_hits(worker, now)
        .values("hit_type")
        .annotate(n=Count("pk"), newest=Max("created_at"))
        .order_by("-newest", "-hit_type")
    )
    found = {row["hit_type"]: row["n"] for row in counts}
    kinds = HITType.objects.select_related("requester").in_bulk(list(found))
    standing = standing_of(worker)
    types = custom_types_of(kinds.values())
    groups = []
    for key, n_available in found.items():
        access = access_to(kinds[key], standing)
        reasons = [reason_for(need, standing, types) for need in access.unmet]
        if access.can_discover:
            groups.append(Group(kinds[key], n_available, access, reasons))
    return groups
