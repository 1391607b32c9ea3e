"""Rehearsals of a collection: begun, watched, stopped; what they found, and the pages seen."""

from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from annotation.dashboard.access import name_of
from annotation.dashboard.collection_context import CollectionContext, collection_page
from annotation.dashboard.collections.framed_pages import framed, with_frame
from annotation.dashboard.forms import number_of
from annotation.dashboard.releases.report import drawn
from annotation.dashboard.waking import leaves_alone
from annotation.models import Rehearsal, RehearsalPage
from annotation.rehearsal.diary import ADVISED, REFUSED
from annotation.rehearsal.orders import (
    DEFAULT_WORKERS,
    MOST_MINUTES,
    MOST_WORKERS,
    check_rehearsable,
    order_rehearsal,
)
from annotation.tables.table import Table
from common.actions import ActionError
from common.long_work import WorkState

# What is to be looked at before publishing, and what to do about it.
GRAVE = {
    "stuck": "A worker could not go on. Look at the pages of this stage.",
    "time": "Fewer workers are done sooner.",
    "places": "More workers, or fewer people for each item: nobody votes twice, nor on their own.",
    "search": "What was answered without a search says little. The server's log says why.",
    "jobs": "The site was too busy; rehearse it again.",
    "pay": "Raise the reward, or correct the minutes, under Settings.",
    "minutes": "Reading and typing alone take longer. Raise the minutes and the reward.",
}
SAID = {
    "refused": "Refused until mended",
    "advised": "Advice, not refused",
    "notice": "A page without work",
    "returned": "Given back",
}
# The page on which a sentence was said first.
MOMENTS = {"refused": REFUSED, "advised": ADVISED}


@dataclass(frozen=True)
class Met:
    """Something that workers met: in which stage, what, how often, and what to do about it."""

    stage: str
    sentence: str
    n: int | None
    about: str
    url: str = ""


@collection_page
@require_safe
def rehearsals(request: HttpRequest, context: CollectionContext) -> HttpResponse:
    """Show how to rehearse, how far the rehearsal under way is, and what the last one found."""
    last = Rehearsal.objects.filter(collection=context.collection).first()
    return _page(request, context, last)


@collection_page
@require_safe
def rehearsal(request: HttpRequest, context: CollectionContext, number: int) -> HttpResponse:
    """Show an earlier rehearsal."""
    return _page(request, context, _row(context, number))


@collection_page
@require_safe
def rehearsals_now(request: HttpRequest, context: CollectionContext) -> HttpResponse:
    """Return the part of the page that changes while a rehearsal is under way."""
    last = Rehearsal.objects.filter(collection=context.collection).first()
    return context.render(
        request, "parts/rehearsal_now.html", tab="collection", **_shown(context, last)
    )


@leaves_alone
@collection_page
@require_POST
def begin_rehearsal(request: HttpRequest, context: CollectionContext) -> HttpResponse:
    """Ask for a rehearsal; a job begins it within seconds."""
    n_workers = number_of(request.POST.get("workers", "").strip(), 5)
    try:
        order_rehearsal(context.collection, n_workers, name_of(request), timezone.now())
    except ActionError as error:
        messages.error(request, error.on_page)
    return redirect(context.url("rehearsals"))


@leaves_alone
@collection_page
@require_POST
def end_rehearsal(request: HttpRequest, context: CollectionContext, number: int) -> HttpResponse:
    """Stop a rehearsal; its copy is thrown away."""
    if _row(context, number).stop(timezone.now()):
        messages.success(request, "Stopped. The copy is thrown away.")
    else:
        messages.info(request, "It has ended already.")
    return redirect(context.url("rehearsals"))


@with_frame
@collection_page
@require_safe
def seen_page(
    request: HttpRequest, context: CollectionContext, number: int, position: int
) -> HttpResponse:
    """Show a page as a worker saw it, in a frame, with the others beside it."""
    row = _row(context, number)
    pages = list(row.pages.defer("html"))
    page = get_object_or_404(RehearsalPage.objects.defer("html"), rehearsal=row, position=position)
    return context.render(
        request,
        "collections/seen_page.html",
        tab="collection",
        rehearsal=row,
        page=page,
        told=[line for line in page.note.splitlines() if line],
        groups=_groups(pages),
        before=_neighbour(pages, position, -1),
        after=_neighbour(pages, position, 1),
    )


@framed
@collection_page
@require_safe
def seen_page_itself(
    request: HttpRequest, context: CollectionContext, number: int, position: int
) -> HttpResponse:
    """Return the page itself: a copy that sends nothing anywhere."""
    page = get_object_or_404(RehearsalPage, rehearsal=_row(context, number), position=position)
    return HttpResponse(page.html)


def _row(context: CollectionContext, number: int) -> Rehearsal:
    return get_object_or_404(Rehearsal, pk=number, collection=context.collection)


def _page(
    request: HttpRequest, context: CollectionContext, shown: Rehearsal | None
) -> HttpResponse:
    try:
        check_rehearsable(context.collection)
        reason = ""
    except ActionError as error:
        reason = error.on_page
    rows = Rehearsal.objects.filter(collection=context.collection).defer("findings")
    return context.render(
        request,
        "collections/rehearsals.html",
        tab="collection",
        reason=reason,
        default=DEFAULT_WORKERS,
        most=MOST_WORKERS,
        minutes=MOST_MINUTES,
        others=[row for row in rows if shown is None or row.pk != shown.pk],
        **_shown(context, shown),
    )


def _shown(context: CollectionContext, row: Rehearsal | None) -> dict[str, Any]:
    """Return a rehearsal as its page shows it."""
    if row is None or row.state != WorkState.DONE:
        return {"rehearsal": row}
    found = row.findings
    pages = list(row.pages.defer("html"))
    met = [(each["kind"], _met(context, row, pages, each)) for each in found["problems"]]
    tables = [Table(**each) for each in found["tables"]]
    expected = found["expected_cents"]
    whole = found["whole"]["expected_cents"] * found["cost_cents"] // expected if expected else None
    return {
        "rehearsal": row,
        "found": found,
        "asked": found["kept"] + found["dropped"] + found["waiting"],
        "whole_cents": whole,
        "is_short": whole is not None and whole > found["whole"]["budget_cents"],
        "grave": [each for kind, each in met if kind in GRAVE],
        "said": [(SAID[kind], each) for kind, each in met if kind in SAID],
        "groups": _groups(pages),
        "report_tables": [drawn(table) for table in tables if table.rows],
    }


def _met(
    context: CollectionContext, row: Rehearsal, pages: list[RehearsalPage], each: dict[str, Any]
) -> Met:
    moment = MOMENTS.get(each["kind"], each["sentence"])
    page = next((p for p in pages if p.stage == each["stage"] and p.moment == moment), None)
    url = context.url("seen_page", number=row.pk, position=page.position) if page else ""
    return Met(each["stage"], each["sentence"], each["n"], GRAVE.get(each["kind"], ""), url)


def _groups(pages: list[RehearsalPage]) -> list[tuple[str, list[RehearsalPage]]]:
    """Return the pages by stage, in their order."""
    return [(stage, list(some)) for stage, some in groupby(pages, key=lambda page: page.stage)]


def _neighbour(pages: list[RehearsalPage], position: int, step: int) -> RehearsalPage | None:
    return next((page for page in pages if page.position == position + step), None)
