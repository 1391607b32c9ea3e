"""Preview as a worker: the page of each stage before anybody works, tried and checked, not kept."""

import json
from typing import Any

from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, RawPostDataException
from django.middleware.csrf import get_token
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from annotation.dashboard.collection_context import CollectionContext, collection_page
from annotation.dashboard.collections.framed_pages import framed_and_asking, with_frame
from annotation.dashboard.waking import leaves_alone
from collector.models import Stage
from collector.retrieval.file_format import RetrievalError
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
