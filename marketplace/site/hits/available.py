"""The HITs a worker can take, and those still closed to them with the reason and the way in."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Protocol, TypeVar

from django.core.paginator import Paginator
from django.db.models import Count, Max
from django.http import HttpResponse
from django.views.decorators.http import require_safe

from marketplace import clock
from marketplace.configuration import payment_terms
from marketplace.hits.acceptance import available_hits
from marketplace.hits.lifecycle import settle_due
from marketplace.models import LIVE, Assignment, AssignmentState, HITType, Worker
from marketplace.money.amounts import typed_cents
from marketplace.people.qualifications.earned_qualifications import ways_to_earn
from marketplace.people.qualifications.requirements import (
    Access,
    access_to,
    custom_types_of,
    record_of,
)
from marketplace.site.hits.facts import Facts, facts_of
from marketplace.site.hits.reasons import Reason, reason_for
from marketplace.site.pages import SignedInRequest, show, worker_page

PAGE_SIZE = 50
RESET = "all"
ORDERS = ("newest", "reward", "hourly", "shortest", "requester")
LONGEST = 80
AMOUNT = re.compile(r"\d{1,7}(?:[.,]\d{1,2})?")


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
    choices = filters_from(given if is_changed else worker.list_choices)
    if is_changed:
        remember_filters(worker, choices)
    groups = groups_for(worker, now)
    takeable = [group for group in groups if group.access.can_accept]
    rows = filtered(takeable, choices)
    page = Paginator(rows, PAGE_SIZE).get_page(request.GET.get("page"))
    held = Assignment.objects.filter(
        worker=worker, state=AssignmentState.ACCEPTED, deadline__gt=now
    )
    return show(
        request,
        "available.html",
        here="available",
        page=page,
        open_groups=list(page),
        payers=list(
            {(group.kind.requester_id, group.kind.asked_by): group.facts for group in page}.values()
        ),
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
        state__in=set(LIVE) - {AssignmentState.ACCEPTED},
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
    record = record_of(worker)
    types = custom_types_of(kinds.values())
    ways = ways_to_earn(types.values(), record, now)
    groups, terms = [], payment_terms()
    for key, n_available in found.items():
        access = access_to(kinds[key], record)
        reasons = [reason_for(need, record, types, ways) for need in access.unmet]
        if access.can_discover:
            groups.append(
                Group(kinds[key], n_available, access, reasons, facts_of(kinds[key], terms))
            )
    return groups


@dataclass(frozen=True)
class ListFilters:
    """What stands in the form above the list, as it was typed."""

    order: str = "newest"
    least: str = ""
    hourly: str = ""
    minutes: str = ""
    requester: str = ""

    @property
    def is_filtering(self) -> bool:
        """Tell whether anything can be left out of the list."""
        return any((self.least, self.hourly, self.minutes, self.requester))


NAMES = tuple(field.name for field in fields(ListFilters))


def filters_from(given: Mapping[str, str]) -> ListFilters:
    """Return the choices of a form or of a worker's row; what makes no sense is left out."""
    typed = {name: str(given.get(name, "")).strip()[:LONGEST] for name in NAMES}
    if typed["order"] not in ORDERS:
        typed["order"] = ORDERS[0]
    for name in ("least", "hourly"):
        if not AMOUNT.fullmatch(typed[name]):
            typed[name] = ""
    for name in ("minutes", "requester"):
        if not (typed[name].isascii() and typed[name].isdigit() and len(typed[name]) < 10):
            typed[name] = ""
    return ListFilters(**typed)


def remember_filters(worker: Worker, choices: ListFilters) -> None:
    """Remember the choices for the worker's next visit."""
    if worker.list_choices != asdict(choices):
        worker.list_choices = asdict(choices)
        worker.save(update_fields=["list_choices"])


class HasFacts(Protocol):
    """Something in the list: it has facts."""

    @property
    def facts(self) -> Facts:
        """Return what stands beside it."""


Item = TypeVar("Item", bound=HasFacts)


def filtered(items: Iterable[Item], choices: ListFilters) -> list[Item]:
    """Return the items that pass the filters, in the chosen order; `items` come newest first.

    Where the usual time is not known the time allotted counts, and pay per hour comes last.
    """
    passed = [item for item in items if _passes(item.facts, choices)]
    keys = {
        "reward": lambda facts: -facts.kind.reward_cents,
        "hourly": lambda facts: -(facts.hourly_cents if facts.hourly_cents is not None else -1),
        "shortest": lambda facts: facts.seconds,
        "requester": lambda facts: facts.kind.requester.name.casefold(),
    }
    key = keys.get(choices.order)
    return passed if key is None else sorted(passed, key=lambda item: key(item.facts))


def _passes(facts: Facts, choices: ListFilters) -> bool:
    if choices.requester and facts.kind.requester_id != int(choices.requester):
        return False
    if choices.least and facts.kind.reward_cents < typed_cents(choices.least):
        return False
    if choices.hourly and (facts.hourly_cents or 0) < typed_cents(choices.hourly):
        return False
    return not choices.minutes or facts.seconds <= 60 * int(choices.minutes)
