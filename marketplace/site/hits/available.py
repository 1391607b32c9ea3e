"""The HITs a worker can take, and those still closed to them with the reason and the way in."""

from dataclasses import dataclass
from datetime import datetime

from django.core.paginator import Paginator
from django.db.models import Count, Max
from django.http import HttpResponse
from django.views.decorators.http import require_safe

from marketplace import clock
from marketplace.configuration import payment_terms
from marketplace.hits.acceptance import available_hits
from marketplace.hits.lifecycle import settle_due
from marketplace.models import LIVE, Assignment, HITType, State, Worker
from marketplace.people.qualifications.earning import ways_to_earn
from marketplace.people.qualifications.requirements import (
    Access,
    access_to,
    custom_types_of,
    standing_of,
)
from marketplace.site.hits.facts import Facts, facts_of
from marketplace.site.hits.list_choices import NAMES, choices_from, chosen, keep
from marketplace.site.hits.reasons import Reason, reason_for
from marketplace.site.pages import SignedInRequest, show, worker_page

PAGE_SIZE = 50
RESET = "all"


@dataclass(frozen=True)
class Group:
    """HITs of one type: how many there are for this worker, and what is in the way."""

    kind: HITType
    n_available: int
    access: Access
    reasons: list[Reason]
    facts: Facts

    @property
    def is_out_of_reach(self) -> bool:
        """Tell whether nothing the worker can do here would open it."""
        return any(reason.is_final for reason in self.reasons)


@worker_page
@require_safe
def available(request: SignedInRequest) -> HttpResponse:
    """Show what is available to me in my order, then what is not yet and how to get there."""
    now, worker = clock.now(), request.worker
    is_changed = RESET in request.GET or any(name in request.GET for name in NAMES)
    given = {} if RESET in request.GET else request.GET
    choices = choices_from(given if is_changed else worker.list_choices)
    if is_changed:
        keep(worker, choices)
    groups = groups_for(worker, now)
    takeable = [group for group in groups if group.access.can_accept]
    rows = chosen(takeable, choices)
    page = Paginator(rows, PAGE_SIZE).get_page(request.GET.get("page"))
    held = Assignment.objects.filter(worker=worker, state=State.ACCEPTED, deadline__gt=now)
    return show(
        request,
        "available.html",
        here="available",
        page=page,
        open_groups=list(page),
        payers=list({group.kind.requester_id: group.facts for group in page}.values()),
        n_hidden=len(takeable) - len(rows),
        n_out_of_reach=sum(group.is_out_of_reach for group in groups),
        n_done=0 if takeable else _n_done(worker, now),
        choices=choices,
        requesters=sorted({(one.kind.requester_id, one.kind.requester.name) for one in takeable}),
        closed_groups=[
            one for one in groups if not one.access.can_accept and not one.is_out_of_reach
        ],
        held=held.select_related("hit__hit_type__requester").order_by("deadline"),
    )


def _n_done(worker: Worker, now: datetime) -> int:
    """Return how many HITs that still have places this worker has done already."""
    return Assignment.objects.filter(
        worker=worker,
        state__in=set(LIVE) - {State.ACCEPTED},
        hit__disposed_at=None,
        hit__expires_at__gt=now,
        hit__n_open__gt=0,
    ).count()


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
    ways = ways_to_earn(types.values(), standing, now)
    groups, terms = [], payment_terms()
    for key, n_available in found.items():
        access = access_to(kinds[key], standing)
        reasons = [reason_for(need, standing, types, ways) for need in access.unmet]
        if access.can_discover:
            groups.append(
                Group(kinds[key], n_available, access, reasons, facts_of(kinds[key], terms))
            )
    return groups
