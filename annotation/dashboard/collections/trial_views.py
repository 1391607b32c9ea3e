"""Workers' pages as a requester tries them: previews, and rehearsals with simulated workers."""

import json
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from csp.constants import NONE, SELF, UNSAFE_INLINE
from csp.decorators import csp_replace, csp_update
from django.contrib import messages
from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, RawPostDataException
from django.middleware.csrf import get_token
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from annotation.dashboard.access import name_of
from annotation.dashboard.collection_context import CollectionContext, collection_page
from annotation.dashboard.forms import number_of, refusals_shown
from annotation.dashboard.middleware import leaves_alone
from annotation.dashboard.report_views import drawn
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
from collector.models import Stage
from collector.retrieval.index import RetrievalError
from common.actions import ActionError
from common.long_work import WorkState
from tasks.pages.stage_preview import (
    BEFORE,
    WORK,
    check_of,
    linked_article,
    page_of,
    searched,
    source_of,
    views_of,
)
from tasks.payload import MAX_BYTES, shallow
from tasks.work.kinds.hit_words import title_of

POLICY = {
    "default-src": [NONE],
    "script-src": [SELF],
    "style-src": [SELF, UNSAFE_INLINE],
    "img-src": [SELF, "data:"],
    "font-src": [SELF],
    "connect-src": [NONE],
    "form-action": [NONE],
    "base-uri": [NONE],
    "frame-ancestors": [SELF],
}
# What is inside the frame; a page that does nothing has its style inside it.
framed = csp_replace(POLICY)
# One that asks what would be said of its work.
framed_and_asking = csp_replace({**POLICY, "connect-src": [SELF]})
# The page around it.
with_frame = csp_update({"frame-src": [SELF]})
NAMES = {BEFORE: "Before it is accepted", WORK: "At work"}
NO_SEEDS = "Choose seeds, and the work itself can be tried with their texts."
SOURCES = {
    "seeds": "With the first seeds of this collection. Submit says what would be checked.",
    "questions": "With questions that workers have written. Submit says what would be checked.",
    "invented": (
        "Nobody has asked anything yet: words stand in for what others write. A worked sample is "
        "on the page before it is accepted; a rehearsal shows the page with simulated questions."
    ),
}
IN_A_ROLE = "Nobody is at the other end: what a partner says comes live. A rehearsal shows dialogs."
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


@with_frame
@collection_page
@require_safe
def preview(
    request: HttpRequest, context: CollectionContext, stage: str, view: str = ""
) -> HttpResponse:
    """Show a stage's page in a frame, with the other stages beside it."""
    row, now = _stage(context, stage), timezone.now()
    views = views_of(row, now)
    view = view or views[min(1, len(views) - 1)]
    if view not in views:
        raise Http404
    told = f"As workers see it on the marketplace. {'' if len(views) > 1 else NO_SEEDS}"
    if view == WORK:
        told = SOURCES[source_of(row)]
    elif view != BEFORE:
        told = IN_A_ROLE
    tables = context.parameters.stages()
    groups = [
        (title_of(tables[each.name]), each.name, [(one, _name(one)) for one in views_of(each, now)])
        for each in context.collection.stages.all()
    ]
    return context.render(
        request,
        "collections/preview.html",
        tab="collection",
        stage=stage,
        title=title_of(tables[stage]),
        view=view,
        name=_name(view),
        told=told,
        groups=groups,
    )


@framed_and_asking
@collection_page
@require_safe
def preview_itself(
    request: HttpRequest, context: CollectionContext, stage: str, view: str
) -> HttpResponse:
    """Return the page itself; it keeps nothing, and can ask alone what would be checked."""
    row, now = _stage(context, stage), timezone.now()
    if view not in views_of(row, now):
        raise Http404
    trial = {
        "token": get_token(request),
        "urls": {
            "submit": context.url("preview_check", stage=stage),
            "article": context.url("preview_article", stage=stage),
            "search": context.url("preview_search", stage=stage),
        },
    }
    return HttpResponse(page_of(row, view, now, trial))


@leaves_alone
@collection_page
@require_POST
def preview_check(request: HttpRequest, context: CollectionContext, stage: str) -> HttpResponse:
    """Return what would be said of a submission, as JSON; nothing of it is kept."""
    found = check_of(_at_work(context, stage), _sent(request).get("data"))
    return JsonResponse(
        {
            "problems": [problem.as_json() for problem in found.problems],
            "hints": [hint.as_json() for hint in found.hints],
        }
    )


@leaves_alone
@collection_page
@require_POST
def preview_article(request: HttpRequest, context: CollectionContext, stage: str) -> HttpResponse:
    """Return a linked article as the page at work may show it, 404 for any other."""
    sent = _sent(request)
    row = _at_work(context, stage)
    found = linked_article(row, str(sent.get("item")), str(sent.get("title")))
    if found is None:
        message = "This article is not in the collection's corpus."
        return JsonResponse({"message": message}, status=404)
    return HttpResponse(found, content_type="application/json")


@leaves_alone
@collection_page
@require_POST
def preview_search(request: HttpRequest, context: CollectionContext, stage: str) -> HttpResponse:
    """Return what a search on the page at work finds, 404 for a page without one."""
    query = str(_sent(request).get("query", ""))
    row = _at_work(context, stage)
    try:
        results = searched(row, query)
    except RetrievalError as error:
        return JsonResponse({"message": str(error)}, status=503)
    if results is None:
        return JsonResponse({"message": "There is nothing to search in this HIT."}, status=404)
    return JsonResponse({"query": query.strip(), "results": results})


def _at_work(context: CollectionContext, stage: str) -> Stage:
    row = _stage(context, stage)
    if WORK not in views_of(row, timezone.now()):
        raise Http404
    return row


def _sent(request: HttpRequest) -> dict[str, Any]:
    """Return the JSON object that a page sent, empty for other content; refuses a form."""
    try:
        sent = shallow(json.loads(request.body)) if len(request.body) <= MAX_BYTES else None
    except (ValueError, RecursionError):
        sent = None
    except RawPostDataException:
        # The token of a form was looked for in what it sent, which is gone.
        raise BadRequest("Send JSON.") from None
    return sent if isinstance(sent, dict) else {}


def _stage(context: CollectionContext, name: str) -> Stage:
    rows = context.collection.stages.select_related("collection__corpus")
    return get_object_or_404(rows, name=name)


def _name(view: str) -> str:
    return NAMES.get(view, f"As the {view}")


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
    with refusals_shown(request):
        order_rehearsal(context.collection, n_workers, name_of(request), timezone.now())
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
