"""The list of HITs, looking at one before taking it, taking it; the service's own addresses."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from urllib.parse import urlsplit

from django.core.paginator import Paginator
from django.db.models import Count, Max, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext_noop
from django.views.decorators.http import require_POST, require_safe

from marketplace import clock
from marketplace.amounts import typed_cents
from marketplace.configuration import is_own_origin, payment_terms
from marketplace.hits.acceptance import (
    RefusedError,
    accept,
    accept_next,
    available_hits,
    available_of,
)
from marketplace.hits.access import Reason, reason_for, ways_to_earn
from marketplace.hits.facts import Facts, facts_of
from marketplace.hits.lifecycle import settle_due
from marketplace.models import HIT, LIVE, Assignment, AssignmentState, HITType, Worker
from marketplace.models.identifiers import new_entity_id
from marketplace.people.requirements import (
    Access,
    access_to,
    custom_types_of,
    record_of,
)
from marketplace.questions.question import preview_url, with_preferences
from marketplace.site.frame_views import page_address
from marketplace.web.pages import SANDBOX, PageError, first_or_error, harden, page
from marketplace.web.worker_pages import SignedInRequest, leave_notice, show, worker_page

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
        """Return whether nothing the worker can do here would open it."""
        return any(reason.is_final for reason in self.reasons)


@worker_page
@require_safe
def available(request: SignedInRequest) -> HttpResponse:
    """Show what is available to me in my order, then what is not yet and how to get there."""
    now, worker = clock.now(), request.worker
    is_changed = RESET in request.GET or any(name in request.GET for name in NAMES)
    given = {} if RESET in request.GET else request.GET
    choices = filters_from(given if is_changed else worker.list_choices)
    if is_changed and worker.list_choices != asdict(choices):
        worker.list_choices = asdict(choices)
        worker.save(update_fields=["list_choices"])
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
        n_done=0
        if takeable
        else Assignment.objects.filter(
            worker=worker,
            state__in=set(LIVE) - {AssignmentState.ACCEPTED},
            hit__disposed_at=None,
            hit__expires_at__gt=now,
            hit__n_open__gt=0,
        ).count(),
        choices=choices,
        requesters=sorted({(one.kind.requester_id, one.kind.requester.name) for one in takeable}),
        closed_groups=[
            one for one in groups if not one.access.can_accept and not one.is_out_of_reach
        ],
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
        """Return whether anything can be left out of the list."""
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


def filtered(groups: Iterable[Group], choices: ListFilters) -> list[Group]:
    """Return the groups that pass the filters, in the chosen order; they come newest first.

    Where the usual time is not known the time allotted counts, and pay per hour comes last.
    """
    passed = [group for group in groups if _passes(group.facts, choices)]
    keys = {
        "reward": lambda facts: -facts.kind.reward_cents,
        "hourly": lambda facts: -(facts.hourly_cents if facts.hourly_cents is not None else -1),
        "shortest": lambda facts: facts.seconds,
        "requester": lambda facts: facts.kind.requester.name.casefold(),
    }
    key = keys.get(choices.order)
    return passed if key is None else sorted(passed, key=lambda group: key(group.facts))


def _passes(facts: Facts, choices: ListFilters) -> bool:
    if choices.requester and facts.kind.requester_id != int(choices.requester):
        return False
    if choices.least and facts.kind.reward_cents < typed_cents(choices.least):
        return False
    if choices.hourly and (facts.hourly_cents or 0) < typed_cents(choices.hourly):
        return False
    return not choices.minutes or facts.seconds <= 60 * int(choices.minutes)


GONE = gettext_noop("This HIT is no longer available. Choose another one from the list.")

DONE = gettext_noop("You have done this HIT, or one that counts for all of its kind.")


@worker_page
@require_safe
def preview(request: SignedInRequest, hit_id: str) -> HttpResponse:
    """Show one HIT in its frame, nothing accepted; closed HITs show why instead."""
    now = clock.now()
    settle_due(now, hit_id=hit_id)
    hit = HIT.objects.select_related("hit_type__requester").filter(hit_id=hit_id).first()
    if hit is None or not hit.is_assignable(now):
        raise PageError(GONE)
    mine = Assignment.objects.filter(
        hit=hit, worker=request.worker, state=AssignmentState.ACCEPTED
    ).first()
    if mine is not None:
        return redirect("work", key=mine.pk)
    if not available_hits(request.worker, now).filter(pk=hit.pk).exists():
        raise PageError(DONE)
    return _shown(request, hit, now, is_any=False)


def _shown(request: SignedInRequest, hit: HIT, now: datetime, *, is_any: bool) -> HttpResponse:
    """Show the HIT in its frame, or why it is closed to this worker.

    is_any: what is accepted here is one of its kind, this HIT or another one.
    """
    record = record_of(request.worker)
    access = access_to(hit.hit_type, record)
    if not access.can_discover:
        raise PageError(GONE)
    types = custom_types_of([hit.hit_type])
    ways = ways_to_earn(types.values(), record, now)
    reasons = [reason_for(need, record, types, ways) for need in access.unmet]
    facts = facts_of(hit.hit_type, payment_terms())
    if not access.can_preview or is_own_origin(hit.external_url, request):
        return show(request, "closed.html", status=403, hit=hit, reasons=reasons, facts=facts)
    response = show(
        request,
        "preview.html",
        hit=hit,
        is_any=is_any,
        once=new_entity_id(),
        facts=facts,
        reasons=reasons,
        can_accept=access.can_accept,
        frame_url=with_preferences(
            preview_url(page_address(request, hit), hit.hit_id), request.worker.display_preferences
        ),
        frame_origin=origin_of(hit.external_url),
        sandbox=SANDBOX[hit.question_kind],
    )
    return harden(response, frame_src="http: https:")


@worker_page
@require_safe
def preview_any(request: SignedInRequest, hit_type_id: str) -> HttpResponse:
    """Show some available HIT of this type, named by its own id or its group's."""
    now = clock.now()
    named = Q(hit_type_id=hit_type_id) | Q(hit_group_id=hit_type_id)
    kind = first_or_error(HITType.objects.filter(named).values_list("pk", flat=True), GONE)
    settle_due(now, hit_type=kind)
    rows = available_of(kind, request.worker, now).select_related("hit_type__requester")
    return _shown(request, first_or_error(rows, GONE), now, is_any=True)


@worker_page
@require_POST
def accept_this(request: SignedInRequest, hit_id: str) -> HttpResponse:
    """Accept the HIT that was previewed, or another one of its kind, and go to work.

    Another one only where the kind was previewed, and this HIT was an example of it.
    """
    now = clock.now()
    try:
        if "any" in request.POST:
            kind = first_or_error(HITType.objects.filter(hits__hit_id=hit_id), GONE)
            once = request.POST.get("once", "")
            key = once if once.isascii() and once.isalnum() and len(once) <= 64 else ""
            assignment = accept_next(request.worker, kind, now, seen=hit_id, form_key=key)
        else:
            assignment = accept(request.worker, hit_id, now)
    except RefusedError as refusal:
        return _back_to_list(request, str(refusal))
    return redirect("work", key=assignment.pk)


@worker_page
@require_POST
def accept_any(request: SignedInRequest, hit_type_id: str) -> HttpResponse:
    """Accept some HIT of this type and go to work."""
    now = clock.now()
    kind = first_or_error(HITType.objects.filter(hit_type_id=hit_type_id), GONE)
    settle_due(now, hit_type=kind)
    try:
        assignment = accept_next(request.worker, kind, now)
    except RefusedError as refusal:
        return _back_to_list(request, str(refusal))
    return redirect("work", key=assignment.pk)


def _back_to_list(request: SignedInRequest, sentence: str) -> HttpResponse:
    leave_notice(request, sentence)
    return redirect("available")


def origin_of(url: str) -> str:
    """Return scheme, host and port of an address as a browser writes an origin.

    A HIT without an address is HTML of the requester's own, which has no origin: `null`.
    """
    if not url:
        return "null"
    parts = urlsplit(url)
    default = 443 if parts.scheme == "https" else 80
    port = "" if parts.port in (None, default) else f":{parts.port}"
    host = (parts.hostname or "").lower()
    return f"{parts.scheme}://{f'[{host}]' if ':' in host else host}{port}"


@page
@require_safe
def old_preview(request: HttpRequest) -> HttpResponse:
    """Lead from `/mturk/preview?groupId=…` (or `hitId`) to the preview; nothing is accepted."""
    if hit_id := _id(request, "hitId"):
        return redirect("preview", hit_id=hit_id)
    if group_id := _id(request, "groupId"):
        return redirect("preview-any", hit_type_id=group_id)
    return redirect("available")


def _id(request: HttpRequest, name: str) -> str:
    value = request.GET.get(name, "")
    return value if value.isascii() and value.isalnum() else ""


@page
@require_safe
def old_tasks(request: HttpRequest, group_id: str, hit_id: str = "") -> HttpResponse:
    """Lead from `/projects/<group>/tasks…` to the preview; `accept_random` accepts nothing."""
    if hit_id and hit_id != "accept_random":
        return redirect("preview", hit_id=hit_id)
    return redirect("preview-any", hit_type_id=group_id)


@page
@require_safe
def old_projects(request: HttpRequest) -> HttpResponse:
    """Lead from `/projects/` to the list."""
    return redirect("available")


@worker_page
@require_safe
def old_search(request: SignedInRequest) -> HttpResponse:
    """Lead from `/mturk/searchbar?searchWords=…` to the one kind of HIT found, else to the list."""
    words = request.GET.get("searchWords", "").casefold().split()
    kinds = [group.kind for group in groups_for(request.worker, clock.now())]
    found = [
        kind.hit_type_id
        for kind in kinds
        if words
        and all(
            word in f"{kind.title} {kind.keywords} {kind.requester.name}".casefold()
            for word in words
        )
    ]
    if len(found) == 1:
        return redirect("preview-any", hit_type_id=found[0])
    return redirect("available")
