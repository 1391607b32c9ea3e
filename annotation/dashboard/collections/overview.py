"""Collections: the start page with its three doors, the list, a new one, and the page of one."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from annotation.dashboard.access import requester_required
from annotation.dashboard.collection_context import CollectionContext, collection_page
from annotation.dashboard.collections.creation_form import CollectionForm, what_workers_do
from annotation.dashboard.collections.events import events_of
from annotation.dashboard.collections.progress import stages_of
from annotation.dashboard.collections.summaries import summaries_of
from annotation.dashboard.collections.todo import is_all_closed, next_step, todo_of
from annotation.dashboard.forms import LONGEST_AMOUNT
from annotation.dashboard.money.spending import spending_of
from annotation.dashboard.worker_names import people_of
from annotation.decisions.verdicts import is_decided, verdict_counts
from annotation.models import Release
from annotation.reports.attention import attention_to
from annotation.splits.difficulty.status import last_run
from collector.models import Collection, CollectionState
from collector.protocols.creation import create_collection, parameters_of
from collector.protocols.language_limits import language_limits
from collector.protocols.loading import ProtocolError
from collector.seeds.looser_thresholds import fitting_length
from collector.serving.sample import is_sample
from common.actions import ActionError
from common.sent_form import form_key, made_before
from tasks.costs.estimates import estimate, totals
from tasks.lifecycle.publication import notices

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
