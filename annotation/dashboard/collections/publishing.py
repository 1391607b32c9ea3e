"""Opening and closing a collection and its stages, and its budget."""

from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from annotation.dashboard.access import name_of
from annotation.dashboard.collection_context import CollectionContext, collection_page
from annotation.dashboard.forms import LONGEST_AMOUNT, cents_of, marketplace_problem, number_of
from annotation.dashboard.money.spending import spending_of
from collector.ingest.licences import licence_cautions
from collector.models import Collection, CollectionState, Stage
from collector.seeds.selection import empty_splits
from common.actions import ActionError
from common.seen_version import OutOfDateError
from tasks.costs.estimates import estimate, totals
from tasks.crowd.requester_api import MarketplaceError
from tasks.lifecycle import publication
from tasks.lifecycle.publication import locks_labels, notices, to_open
from tasks.people.audience import audience_of
from tasks.work.kinds.hit_words import title_of


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
        messages.success(request, _opened(opened))
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


def _opened(stages: list[Stage]) -> str:
    if not stages:
        return "Work is handed out again."
    named = ", ".join(str(stage) for stage in stages)
    return f"Open: {named}. The first HITs appear on the marketplace within seconds."
