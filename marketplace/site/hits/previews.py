"""Looking at a HIT before taking it, and taking it."""

from datetime import datetime
from urllib.parse import urlsplit

from django.db.models import Q
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext_noop
from django.views.decorators.http import require_POST, require_safe

from marketplace import clock
from marketplace.configuration import is_own_origin, payment_terms
from marketplace.hits.acceptance import (
    RefusedError,
    accept,
    accept_next,
    available_hits,
    available_of,
)
from marketplace.hits.lifecycle import settle_due
from marketplace.hits.questions.entry import preview_url, with_preferences
from marketplace.models import HIT, Assignment, AssignmentState, HITType
from marketplace.models.identifiers import new_entity_id
from marketplace.people.qualifications.earned_qualifications import ways_to_earn
from marketplace.people.qualifications.requirements import access_to, custom_types_of, record_of
from marketplace.site.assignments.question_pages import page_address
from marketplace.site.hits.facts import facts_of
from marketplace.site.hits.reasons import reason_for
from marketplace.site.pages import SignedInRequest, leave_notice, show, worker_page
from marketplace.web.pages import SANDBOX, PageError, first_or_error, harden

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
