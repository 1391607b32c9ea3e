"""Ends a collection and reopens it, copies it, puts it away, drops what was never published."""

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.dashboard.access import name_of
from annotation.dashboard.collection_context import CollectionContext, collection_page
from annotation.reports.finishing import finishing_report
from collector.models import Collection, CollectionState
from collector.protocols import housekeeping
from collector.protocols.housekeeping import AT_REST
from common.actions import ActionError
from common.sent_form import form_key, made_before
from tasks.lifecycle import publication


@collection_page
@require_safe
def housekeeping_page(request: HttpRequest, context: CollectionContext) -> HttpResponse:
    """Offer a copy, the archive, and to drop a draft."""
    row = context.collection
    return context.render(
        request,
        "collections/housekeeping.html",
        tab="collection",
        can_drop=row.state == CollectionState.DRAFT,
        can_archive=row.state in AT_REST,
        copy_slug=f"{row.slug[:75]}-copy",
        copy_title=f"{row.title} (copy)"[:200],
    )


@collection_page
@require_POST
def duplicate(request: HttpRequest, context: CollectionContext) -> HttpResponse:
    """Make a draft like this collection and show it."""
    given, key = request.POST, form_key(request)
    try:
        made = housekeeping.duplicate(
            context.collection, given.get("slug", ""), given.get("title", ""), timezone.now(), key
        )
    except ActionError as error:
        before = made_before(Collection.objects.all(), key)
        if before:
            return redirect("seeds", slug=before.slug)
        messages.error(request, error.on_page)
        return redirect(context.url("keep"))
    messages.success(request, "Copied: the same parameters and texts. Choose its seeds next.")
    return redirect("seeds", slug=made.slug)


@collection_page
@require_POST
def archive(request: HttpRequest, context: CollectionContext) -> HttpResponse:
    """Put the collection away, or take it out again."""
    if "out" in request.POST:
        housekeeping.unarchive(context.collection)
        messages.success(request, "It is in the lists again.")
        return redirect(context.url("collection"))
    return _done(
        request,
        context,
        lambda: housekeeping.archive(context.collection, timezone.now()),
        "Archived: it is under Collections, Archived, with all it holds.",
    )


@collection_page
@require_POST
def drop(request: HttpRequest, context: CollectionContext) -> HttpResponse:
    """Delete a draft whose short name was typed, so that no slip of the hand does it."""
    if request.POST.get("slug", "").strip() != context.collection.slug:
        messages.error(request, f"Type its short name, {context.collection.slug}, to drop it.")
        return redirect(context.url("keep"))
    return _done(
        request,
        context,
        lambda: housekeeping.drop_collection(context.collection),
        f"Dropped: “{context.collection.title}” and its seeds are gone.",
    )


def _done(
    request: HttpRequest, context: CollectionContext, act: Callable[[], object], sentence: str
) -> HttpResponse:
    try:
        act()
    except ActionError as error:
        messages.error(request, error.on_page)
        return redirect(context.url("keep"))
    messages.success(request, sentence)
    return redirect("collections")


@collection_page
@require_POST
def drop_seeds(request: HttpRequest, context: CollectionContext) -> HttpResponse:
    """Let go of one seed, or of all of them, before the first publication."""
    key = request.POST.get("seed", "")
    try:
        if key:
            seed = get_object_or_404(context.collection.seeds, key=key)
            housekeeping.drop_seed(seed, name_of(request), timezone.now())
            messages.success(request, f"Seed {seed.position:,} is let go and not chosen again.")
        else:
            rows = context.collection.seeds.all()
            with context.unchanged(request, lambda: str(rows.count())):
                number = housekeeping.drop_all_seeds(context.collection)
            messages.success(request, f"All {number:,} seeds are let go: choose anew.")
    except ActionError as error:
        messages.error(request, error.on_page)
    return redirect(context.url("seeds"))


@collection_page
@require_http_methods(["GET", "HEAD", "POST"])
def finish(request: HttpRequest, context: CollectionContext) -> HttpResponse:
    """Say what finishing does, do it, and say what stays to be done."""
    if request.method == "POST":
        why = request.POST.get("why", "")
        try:
            publication.finish(context.collection, why, name_of(request), timezone.now())
        except ActionError as error:
            messages.error(request, error.on_page)
        else:
            messages.success(request, "Finished. Nobody gets new work.")
        return redirect(context.url("finish"))
    closing = finishing_report(context.collection)
    is_finished = context.collection.state == CollectionState.FINISHED
    return context.render(
        request,
        "collections/finishing.html",
        tab="collection",
        is_draft=context.collection.state == CollectionState.DRAFT,
        is_finished=is_finished,
        ahead=closing.ahead(context.price),
        remaining=closing.remaining(context.price, after=is_finished),
    )


@collection_page
@require_POST
def reopen(request: HttpRequest, context: CollectionContext) -> HttpResponse:
    """Pause a finished collection, from where it can be resumed."""
    try:
        publication.reopen(context.collection, "", name_of(request), timezone.now())
    except ActionError as error:
        messages.error(request, error.on_page)
    else:
        messages.success(request, "Reopened. Press Resume when work should be handed out again.")
    return redirect(context.url("collection"))
