"""Finishing a collection and reopening it: what it does is said before it is done."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from annotation.dashboard.access import name_of
from annotation.dashboard.collection_context import Desk, on_desk
from annotation.reports.finishing import closing_of
from collector.models import CollectionState
from common.actions import ActionError
from tasks.lifecycle import publication


@on_desk
@require_http_methods(["GET", "HEAD", "POST"])
def finish(request: HttpRequest, desk: Desk) -> HttpResponse:
    """Say what finishing does, do it, and say what stays to be done."""
    if request.method == "POST":
        why = request.POST.get("why", "")
        try:
            publication.finish(desk.collection, why, name_of(request), timezone.now())
        except ActionError as error:
            messages.error(request, error.on_page)
        else:
            messages.success(request, "Finished. Nobody gets new work.")
        return redirect(desk.url("finish"))
    closing = closing_of(desk.collection)
    is_finished = desk.collection.state == CollectionState.FINISHED
    return desk.render(
        request,
        "collections/finishing.html",
        tab="collection",
        is_draft=desk.collection.state == CollectionState.DRAFT,
        is_finished=is_finished,
        ahead=closing.ahead(desk.price),
        remaining=closing.remaining(desk.price, after=is_finished),
    )


@on_desk
@require_POST
def reopen(request: HttpRequest, desk: Desk) -> HttpResponse:
    """Pause a finished collection, from where it can be resumed."""
    try:
        publication.reopen(desk.collection, "", name_of(request), timezone.now())
    except ActionError as error:
        messages.error(request, error.on_page)
    else:
        messages.success(request, "Reopened. Press Resume when work should be handed out again.")
    return redirect(desk.url("collection"))
