"""Ends a collection and reopens it, copies it, puts it away, drops what was never published."""

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.dashboard.access import name_of
from annotation.dashboard.collection_context import Desk, on_desk
from annotation.reports.finishing import closing_of
from collector.models import CollectionState
from collector.protocols import housekeeping
from collector.protocols.housekeeping import AT_REST
from common.actions import ActionError
from tasks.lifecycle import publication


@on_desk
@require_safe
def keep(request: HttpRequest, desk: Desk) -> HttpResponse:
    """Offer a copy, the archive, and to drop a draft."""
    row = desk.collection
    return desk.render(
        request,
        "collections/housekeeping.html",
        tab="collection",
        can_drop=row.state == CollectionState.DRAFT,
        can_archive=row.state in AT_REST,
        copy_slug=f"{row.slug[:75]}-copy",
        copy_title=f"{row.title} (copy)"[:200],
    )


@on_desk
@require_POST
def duplicate(request: HttpRequest, desk: Desk) -> HttpResponse:
    """Make a draft like this collection and show it."""
    given = request.POST
    try:
        made = housekeeping.duplicate(
            desk.collection, given.get("slug", ""), given.get("title", ""), timezone.now()
        )
    except ActionError as error:
        messages.error(request, error.on_page)
        return redirect(desk.url("keep"))
    messages.success(request, "Copied: the same parameters and texts. Choose its seeds next.")
    return redirect("seeds", slug=made.slug)


@on_desk
@require_POST
def archive(request: HttpRequest, desk: Desk) -> HttpResponse:
    """Put the collection away, or take it out again."""
    if "out" in request.POST:
        housekeeping.take_out(desk.collection)
        messages.success(request, "It is in the lists again.")
        return redirect(desk.url("collection"))
    return _done(
        request,
        desk,
        lambda: housekeeping.archive(desk.collection, timezone.now()),
        "Archived: it is under Collections, Archived, with all it holds.",
    )


@on_desk
@require_POST
def drop(request: HttpRequest, desk: Desk) -> HttpResponse:
    """Delete a draft whose short name was typed, so that no slip of the hand does it."""
    if request.POST.get("slug", "").strip() != desk.collection.slug:
        messages.error(request, f"Type its short name, {desk.collection.slug}, to drop it.")
        return redirect(desk.url("keep"))
    return _done(
        request,
        desk,
        lambda: housekeeping.drop_collection(desk.collection),
        f"Dropped: “{desk.collection.title}” and its seeds are gone.",
    )


def _done(
    request: HttpRequest, desk: Desk, act: Callable[[], object], sentence: str
) -> HttpResponse:
    try:
        act()
    except ActionError as error:
        messages.error(request, error.on_page)
        return redirect(desk.url("keep"))
    messages.success(request, sentence)
    return redirect("collections")


@on_desk
@require_POST
def drop_seeds(request: HttpRequest, desk: Desk) -> HttpResponse:
    """Let go of one seed, or of all of them, before the first publication."""
    key = request.POST.get("seed", "")
    try:
        if key:
            seed = get_object_or_404(desk.collection.seeds, key=key)
            housekeeping.drop_seed(seed, name_of(request), timezone.now())
            messages.success(request, f"Seed {seed.position:,} is let go and not chosen again.")
        else:
            number = housekeeping.drop_all_seeds(desk.collection)
            messages.success(request, f"All {number:,} seeds are let go: choose anew.")
    except ActionError as error:
        messages.error(request, error.on_page)
    return redirect(desk.url("seeds"))


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
