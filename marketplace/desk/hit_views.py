"""A requester's HITs that programs posted: their origin, who can see them, their events."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlsplit

from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST, require_safe

from marketplace import clock
from marketplace.hits.audience import audience_summaries, audience_summary
from marketplace.hits.lifecycle import settle_account, settle_due
from marketplace.models import HIT, Assignment, HITType, QualificationType, Requester
from marketplace.notifications.events import events_of, send_again
from marketplace.operations.money import rewardable
from marketplace.people.requirements import any_of
from marketplace.web.desk_pages import (
    DeskRequest,
    leave_notice,
    page_of,
    record,
    requester_page,
    show,
)
from marketplace.web.pages import first_or_error

LINK = re.compile(r"https?://[^\s<>\"']{1,240}")


@dataclass(frozen=True)
class Origin:
    """The name of what HITs are part of, and the address of its page, "" where none was given."""

    name: str
    url: str


def page_in(annotation: str) -> str:
    """Return the address that a HIT's annotation holds, "" for none."""
    found = LINK.search(annotation)
    return found[0] if found and urlsplit(found[0]).hostname else ""


def origin_of(hit: HIT) -> Origin | None:
    """Return what a HIT is part of; None where its requester states nothing."""
    name, url = hit.hit_type.stated.part_of, page_in(hit.annotation)
    return Origin(name or url, url) if name or url else None


def kinds_by_origin(requester: Requester) -> dict[str, list[int]]:
    """Return the keys of the requester's HIT types by the name of what they are part of."""
    found: dict[str, list[int]] = {}
    rows = HITType.objects.filter(requester=requester, keywords__contains="part-of:")
    for kind in rows.only("keywords"):
        found.setdefault(kind.stated.part_of, []).append(kind.pk)
    return dict(sorted(found.items()))


def users_of(
    types: Iterable[QualificationType], requester: Requester | None = None
) -> dict[int, list[Origin]]:
    """Return what asks for each qualification type, or earns it, by the type's key.

    requester: whose HITs are looked at; None for everybody's.
    """
    kinds = HITType.objects.all() if requester is None else requester.hit_types.all()
    named: dict[str, dict[str, int]] = {}
    for kind in kinds.only("requirements", "keywords", "title").order_by("pk"):
        ids = {need["QualificationTypeId"] for need in kind.requirements} | set(kind.stated.earns)
        for type_id in ids | {other for one in ids for other in any_of(one)}:
            named.setdefault(type_id, {})[kind.stated.part_of or kind.title] = kind.pk
    return {
        row.pk: [
            Origin(name, _page_of(kind))
            for name, kind in sorted(named.get(row.qualification_type_id, {}).items())
        ]
        for row in types
    }


def _page_of(kind: int) -> str:
    hits = HIT.objects.filter(hit_type=kind).order_by("-pk").values_list("annotation", flat=True)
    return page_in(hits.first() or "")


# The API's words, for people who do not know the API.
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
