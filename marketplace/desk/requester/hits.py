"""A requester's HITs that programs posted: who can see them, and what programs were told."""

from datetime import datetime

from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST, require_safe

from marketplace import clock
from marketplace.desk.access import record, requester_page
from marketplace.desk.batches.bonuses import rewardable
from marketplace.desk.pages import leave_notice, page_of, show
from marketplace.desk.requester.audience import audience_summaries, audience_summary
from marketplace.desk.requester.origins import kinds_by_origin, origin_of
from marketplace.desk.sessions import DeskRequest
from marketplace.hits.lifecycle import settle_account, settle_due
from marketplace.models import HIT, Assignment
from marketplace.notifications.events import events_of, send_again
from marketplace.web.pages import first_or_error

# What the API's words mean to whoever reads no API.
STATUS_WORDS = {
    "Assignable": "Open",
    "Unassignable": "All places taken",
    "Reviewable": "To review",
    "Reviewing": "Under review",
    "Disposed": "Deleted",
}
NO_HIT = "There is no such HIT of yours. Choose one from the list."


@requester_page
@require_safe
def hits(request: DeskRequest) -> HttpResponse:
    """Show the HITs that belong to no batch, the newest first, or those part of one thing."""
    now = clock.now()
    settle_account(request.requester, now)
    rows = HIT.objects.filter(requester=request.requester, batch_row=None)
    parts, of = kinds_by_origin(request.requester), request.GET.get("of", "")
    if of in parts:
        rows = rows.filter(hit_type__in=parts[of])
    page = page_of(request, rows.select_related("hit_type").order_by("-pk"))
    kinds = {hit.hit_type_id: hit.hit_type for hit in page}
    reaches = dict(zip(kinds, audience_summaries(kinds.values()), strict=True))
    lines = [(hit, _state_of(hit, now), reaches[hit.hit_type_id]) for hit in page]
    origin = origin_of(lines[0][0]) if of in parts and lines else None
    return show(
        request,
        "hits.html",
        here="hits",
        page=page,
        lines=lines,
        parts=list(parts),
        of=of if of in parts else "",
        origin=origin,
    )


def _state_of(hit: HIT, now: datetime) -> str:
    """Return what became of a HIT, in words; none is left to review whose work is decided."""
    status = hit.status(now)
    return "Over" if status == "Reviewable" and not hit.n_awaiting else STATUS_WORDS[status]


@requester_page
@require_safe
def hit(request: DeskRequest, key: int) -> HttpResponse:
    """Show one HIT of the requester's, whether a program or the desk posted it."""
    now = clock.now()
    mine = HIT.objects.filter(requester=request.requester, pk=key)
    settle_due(now, pk=key, requester=request.requester)
    found = first_or_error(mine.select_related("hit_type", "batch_row__batch"), NO_HIT)
    row = getattr(found, "batch_row", None)
    return show(
        request,
        "hit.html",
        here="projects" if row else "hits",
        hit=found,
        api_word=found.status(now),
        status_word=_state_of(found, now),
        batch=row.batch if row else None,
        origin=origin_of(found),
        reach=audience_summary(found.hit_type),
        has_work=rewardable(Assignment.objects.filter(hit=found), now).exists(),
    )


@requester_page
@require_safe
def hit_by_id(request: DeskRequest, hit_id: str) -> HttpResponse:
    """Go to the HIT of the requester's that programs know by this id."""
    found = first_or_error(HIT.objects.filter(requester=request.requester, hit_id=hit_id), NO_HIT)
    return redirect("desk-hit", key=found.pk)


@requester_page
@require_safe
def events(request: DeskRequest) -> HttpResponse:
    """Show the requester's events, the newest first, with what became of each."""
    page = page_of(request, events_of(request.requester))
    return show(request, "events.html", here="hits", page=page)


@requester_page
@require_POST
def resend_event(request: DeskRequest, key: int) -> HttpResponse:
    """Send an event once more, whatever became of it before."""
    event = first_or_error(
        events_of(request.requester).filter(pk=key),
        "There is no such event of yours. Choose one from the list.",
    )
    send_again(event, clock.now())
    record(request, f"Sent the event {event.document_id} again")
    leave_notice(request, f"{event.content['EventType']} is on its way to {event.destination}.")
    return redirect("desk-events")
