"""Collections: listed, made, shown, opened to workers, finished and put away."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.dashboard.access import name_of, requester_required
from annotation.dashboard.collection_context import CollectionContext, collection_page
from annotation.dashboard.collections.progress import (
    events_of,
    is_all_closed,
    next_step,
    stages_of,
    summaries_of,
    todo_of,
)
from annotation.dashboard.forms import (
    LONGEST_AMOUNT,
    CollectionForm,
    marketplace_problem,
    number_of,
    refusals_shown,
    what_workers_do,
)
from annotation.dashboard.money.spending import spending_of
from annotation.dashboard.worker_names import people_of
from annotation.decisions.verdicts import is_decided, verdict_counts
from annotation.models import Release
from annotation.reports.attention import attention_to, finishing_report
from annotation.splits.cross_validation import last_run
from collector.ingest.licences import licence_cautions
from collector.models import Collection, CollectionState
from collector.protocols import creation
from collector.protocols.creation import AT_REST, create_collection, parameters_of
from collector.protocols.loading import ProtocolError
from collector.protocols.parameters import language_limits
from collector.seeds.selection import empty_splits, fitting_length
from collector.serving.sample import is_sample
from common.actions import ActionError
from common.money import cents_of
from common.sent_form import OutOfDateError, form_key, made_before
from tasks.costs import estimate, totals
from tasks.crowd.requester_api import MarketplaceError
from tasks.lifecycle import publication
from tasks.lifecycle.publication import locks_labels, notices, to_open
from tasks.people.audience import audience_of
from tasks.work.kinds.hit_words import title_of

SHOWN = 6


@requester_required
@require_safe
def collections(request: HttpRequest) -> HttpResponse:
    """List the collections, or the archived ones, with progress, money and what waits."""
    is_archive = "archived" in request.GET
    every = list(Collection.objects.select_related("corpus"))
    rows = [row for row in every if (row.archived_at is not None) == is_archive]
    context = {
        "summaries": summaries_of(rows),
        "is_archive": is_archive,
        "n_archived": 0 if is_archive else len(every) - len(rows),
    }
    return render(request, "dashboard/collections/list.html", context)


@requester_required
@require_http_methods(["GET", "HEAD", "POST"])
def new_collection(request: HttpRequest) -> HttpResponse:
    """Create a collection; what is wrong is said at its field, and nothing typed is lost."""
    form = CollectionForm(request.POST or None, initial={"corpus": request.GET.get("corpus", "")})
    if request.method == "POST":
        key = form_key(request)
        made = _create(request, form, key) if form.is_valid() else None
        # Sent again, its name is taken by what it made.
        made = made or made_before(Collection.objects.all(), key)
        if made:
            return redirect("seeds", slug=made.slug)
    status = 400 if form.errors else 200
    context = {"form": form, "protocols": what_workers_do()}
    return render(request, "dashboard/collections/new.html", context, status=status)


def _create(request: HttpRequest, form: CollectionForm, key: str) -> Collection | None:
    """Return the new collection, or None with the reason at the field it is about."""
    given = form.cleaned_data
    overrides = {"people.groups": given["groups"]} if given.get("groups") else {}
    fitting = None
    try:
        fitting = fitting_length(given["protocol"], given["corpus"])
        made = create_collection(
            given["slug"],
            given["protocol"],
            given["corpus"],
            overrides=overrides | (fitting.overrides if fitting else {}),
            seed=given["seed"],
            now=timezone.now(),
            title=given["title"],
            budget_cents=given["budget_cents"],
            requester_name=given["requester_name"],
            requester_contact=given["requester_contact"],
            ethics_number=given["ethics_number"],
            form_key=key,
        )
    except ActionError as error:
        form.add_error("slug", error.on_page)
    except ProtocolError as error:
        form.add_error("protocol", str(error).split("\n"))
    else:
        if fitting:
            messages.info(request, str(fitting))
        for sentence in language_limits(parameters_of(made), made.corpus.language):
            messages.info(request, sentence)
        return made
    return None


@collection_page
@require_safe
def collection(request: HttpRequest, context: CollectionContext) -> HttpResponse:
    """Show the collection: what to do next, its stages, its money, what waits, what happened."""
    typed = request.GET.get("budget", "")[:LONGEST_AMOUNT]
    return context.render(
        request, "collections/overview.html", tab="collection", typed_budget=typed, **_now(context)
    )


@collection_page
@require_safe
def collection_now(request: HttpRequest, context: CollectionContext) -> HttpResponse:
    """Return the part of the collection's page that changes, for the page to put in place."""
    return context.render(request, "parts/collection_now.html", tab="collection", **_now(context))


def _now(context: CollectionContext) -> dict[str, Any]:
    row = context.collection
    estimates = estimate(row)
    stages = stages_of(row, context.parameters, estimates)
    money = spending_of(row, totals(row, estimates))
    verdicts = verdict_counts(row)
    n_seeds = row.seeds.count()
    return {
        "stages": stages,
        "is_all_closed": is_all_closed(row, stages),
        "money": money,
        "verdicts": verdicts,
        "n_seeds": n_seeds,
        "next": next_step(
            context,
            stages,
            money,
            n_seeds,
            verdicts.kept,
            row.releases.count(),
            judged=context.difficulty is None or last_run(row) is not None,
            decided=verdicts.kept > 0 or is_decided(row),
        ),
        "marketplace_url": settings.MARKETPLACE_URL,
        "todo": todo_of(context, stages, attention_to([row])[row.pk]),
        "events": events_of(context, people_of(row)),
        "now": timezone.now(),
        # What cannot be mended later as well is said before.
        "notices": notices(context.parameters) if row.state == CollectionState.DRAFT else [],
    }


@requester_required
@require_safe
def start(request: HttpRequest) -> HttpResponse:
    """Show the three doors and how the collections stand."""
    collections = list(Collection.objects.filter(archived_at=None).select_related("corpus")[:SHOWN])
    newest = Release.objects.select_related("collection").order_by("-created_at", "-pk").first()
    return render(
        request,
        "dashboard/collections/start.html",
        {
            "marketplace_url": settings.MARKETPLACE_URL,
            "release": newest,
            "coming": None
            if newest
            else next((one for one in collections if is_sample(one)), None),
            "summaries": summaries_of(collections),
        },
    )


@collection_page
@require_http_methods(["GET", "HEAD", "POST"])
def publish(request: HttpRequest, context: CollectionContext, stage: str = "") -> HttpResponse:
    """Open the collection to workers, or one stage of it; nothing changes when it cannot be.

    Asked for as a page, it says first what it costs and what cannot be changed afterwards; where
    that has changed since, the page is shown again.
    """
    if request.method != "POST":
        return _before_publishing(request, context)
    # Who sends no amount has seen none: it equals no maximum.
    seen_cents = number_of(request.POST.get("maximum", ""), otherwise=-1)
    try:
        opened = publication.publish(context.collection, stage, seen_cents)
    except publication.CostChangedError as error:
        messages.error(request, error.on_page)
        return redirect(context.url("publish"))
    except ActionError as error:
        messages.error(request, error.on_page)
    except MarketplaceError as error:
        messages.error(request, marketplace_problem(error, "press the button again"))
    else:
        sentence = "Work is handed out again."
        if opened:
            named = ", ".join(str(stage) for stage in opened)
            sentence = f"Open: {named}. The first HITs appear on the marketplace within seconds."
        messages.success(request, sentence)
        for told in notices(context.parameters):
            messages.warning(request, told)
    return redirect(context.url("collection"))


def _before_publishing(request: HttpRequest, context: CollectionContext) -> HttpResponse:
    row = context.collection
    if row.state != CollectionState.DRAFT or not row.seeds.exists():
        return redirect(context.url("collection"))
    estimates = estimate(row)
    # What is refused when it is pressed is said now.
    try:
        opened = to_open(row)
    except ActionError as error:
        messages.error(request, error.on_page)
        return redirect(context.url("collection"))
    return context.render(
        request,
        "collections/publishing.html",
        tab="collection",
        stages=[
            (table, title_of(table), each)
            for each in estimates
            for table in [context.parameters.stages()[each.stage.name]]
        ],
        money=spending_of(row, totals(row, estimates)),
        notices=[
            *notices(context.parameters),
            *licence_cautions(row.corpus),
            *empty_splits(row, context.parameters),
        ],
        n_seeds=row.seeds.count(),
        provider=publication.provider_name(),
        audience=audience_of(row),
        openings=[
            (stage, title_of(context.parameters.stages()[stage.name]), locks_labels(stage))
            for stage in opened
        ],
    )


@collection_page
@require_POST
def pause(request: HttpRequest, context: CollectionContext) -> HttpResponse:
    """Stop handing out work."""
    publication.pause(context.collection)
    sentence = "Paused. Nobody gets new work; who is at work finishes and is paid."
    messages.success(request, sentence)
    return redirect(context.url("collection"))


@collection_page
@require_POST
def close_stage(request: HttpRequest, context: CollectionContext, stage: str) -> HttpResponse:
    """Close one stage for good, or until it is opened again."""
    row = get_object_or_404(context.collection.stages, name=stage)
    publication.close_stage(row)
    sentence = f"{row} is closed. Who is at work finishes and is paid."
    messages.success(request, sentence)
    return redirect(context.url("collection"))


@collection_page
@require_POST
def raise_budget(request: HttpRequest, context: CollectionContext) -> HttpResponse:
    """Set the hard cap, never below what is bound; a refused amount stays in its field."""
    typed = request.POST.get("budget", "")
    cents = cents_of(typed, context.parameters.pay.minor_units)
    again = redirect(f"{context.url('collection')}?{urlencode({'budget': typed[:LONGEST_AMOUNT]})}")
    bound = context.collection.reserved_cents + context.collection.spent_cents
    if cents is None:
        messages.error(request, "Write the budget as a number, such as 250 or 249.50.")
        return again
    rows = Collection.objects.filter(pk=context.collection.pk)
    try:
        with context.unchanged(request, lambda: str(rows.values_list("budget_cents")[0][0])):
            publication.raise_budget(context.collection, cents, name_of(request), timezone.now())
    except OutOfDateError as error:
        messages.error(request, str(error))
        return again
    except ActionError:
        sentence = f"{context.price(bound)} are reserved or spent already: set that much or more."
        messages.error(request, sentence)
        return again
    messages.success(request, f"The budget is {context.price(cents)}.")
    return redirect(context.url("collection"))


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
        made = creation.duplicate(
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
        creation.unarchive(context.collection)
        messages.success(request, "It is in the lists again.")
        return redirect(context.url("collection"))
    return _done(
        request,
        context,
        lambda: creation.archive(context.collection, timezone.now()),
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
        lambda: creation.drop_collection(context.collection),
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
    """Drop one seed, or all of them, before the first publication."""
    key = request.POST.get("seed", "")
    with refusals_shown(request):
        if key:
            seed = get_object_or_404(context.collection.seeds, key=key)
            creation.drop_seed(seed, name_of(request), timezone.now())
            messages.success(request, f"Seed {seed.position:,} is let go and not chosen again.")
        else:
            rows = context.collection.seeds.all()
            with context.unchanged(request, lambda: str(rows.count())):
                number = creation.drop_all_seeds(context.collection)
            messages.success(request, f"All {number:,} seeds are let go: choose anew.")
    return redirect(context.url("seeds"))


@collection_page
@require_http_methods(["GET", "HEAD", "POST"])
def finish(request: HttpRequest, context: CollectionContext) -> HttpResponse:
    """Say what finishing does, do it, and say what stays to be done."""
    if request.method == "POST":
        why = request.POST.get("why", "")
        with refusals_shown(request):
            publication.finish(context.collection, why, name_of(request), timezone.now())
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
    with refusals_shown(request):
        publication.reopen(context.collection, "", name_of(request), timezone.now())
        messages.success(request, "Reopened. Press Resume when work should be handed out again.")
    return redirect(context.url("collection"))
