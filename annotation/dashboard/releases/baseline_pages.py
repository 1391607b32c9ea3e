"""The baselines of a release: chosen, begun, watched, stopped, and what they answer right."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from annotation.baselines.training_jobs import order_baseline
from annotation.baselines.words import duration
from annotation.dashboard.access import name_of
from annotation.dashboard.collection_context import CollectionContext, View, collection_page
from annotation.models import BaselineRun, Release
from annotation.protocols.contracts import TRAINED
from collector.protocols.loading import get_protocol
from common.long_work import WorkState
from readers.trained import Trained

RECIPES = {
    "small": "Small, for any machine",
    "paper": "As in the paper, for a graphics card",
}
# A machine that can train takes a run up within seconds.
SOON = timedelta(seconds=20)


@dataclass(frozen=True)
class ShownRun:
    """One run; `is_late`: no machine has taken it up."""

    row: BaselineRun
    trained: Trained | None
    is_late: bool

    @property
    def about(self) -> str:
        """Return what it is, blank for what the protocol has no longer."""
        return self.trained.about if self.trained else ""

    @property
    def paper(self) -> str:
        """Return the paper's own numbers, with where they stand there."""
        told = self.trained.paper.items() if self.trained else ()
        numbers = ", ".join(f"{name} {value:g}" for name, value in told if value is not None)
        return f"{numbers} ({self.trained.source})" if self.trained and numbers else ""

    @property
    def left(self) -> str:
        """Return how long the rest of its step takes, blank where that is not known."""
        seconds = self.row.seconds_left
        return "" if seconds is None else f"about {duration(seconds)} left"

    @property
    def recipe(self) -> str:
        """Return the recipe in a word or two."""
        return RECIPES.get(self.row.recipe, self.row.recipe).partition(",")[0]


def trained_baselines(context: CollectionContext) -> dict[str, Trained]:
    """Return the baselines that can be trained from a release of the collection, by name.

    Those that learn from what another has predicted are trained by the command alone.
    """
    protocol = get_protocol(context.collection.protocol)
    found = protocol.part(TRAINED).TRAINED if protocol.has(TRAINED, "TRAINED") else {}
    return {name: one for name, one in found.items() if one.train_files and not one.needs}


def baselines_page(view: Any) -> View:
    """Make a view a `collection_page` that gets its release; 404 where nothing can be trained."""

    def opened(
        request: HttpRequest, context: CollectionContext, number: int, **kwargs: Any
    ) -> HttpResponseBase:
        if not trained_baselines(context):
            raise Http404
        release = get_object_or_404(Release, collection=context.collection, number=number)
        found: HttpResponseBase = view(request, context, release, **kwargs)
        return found

    opened.__name__ = view.__name__
    return collection_page(opened)


@baselines_page
@require_safe
def baselines(request: HttpRequest, context: CollectionContext, release: Release) -> HttpResponse:
    """Show what can be trained on the release, and how far what was asked for is."""
    return context.render(
        request,
        "releases/baselines.html",
        tab="releases",
        names=[(name, one.about) for name, one in trained_baselines(context).items()],
        recipes=RECIPES.items(),
        **_now(context, release),
    )


@baselines_page
@require_safe
def baselines_now(
    request: HttpRequest, context: CollectionContext, release: Release
) -> HttpResponse:
    """Return the part of the page that changes while baselines are trained."""
    return context.render(
        request, "parts/baselines_now.html", tab="releases", **_now(context, release)
    )


@baselines_page
@require_POST
def begin_baseline(
    request: HttpRequest, context: CollectionContext, release: Release
) -> HttpResponse:
    """Ask for one baseline; a machine that runs collector-readers trains it."""
    name, recipe = request.POST.get("name", ""), request.POST.get("recipe", "")
    if name not in trained_baselines(context) or recipe not in RECIPES:
        messages.error(request, "Choose one of the baselines and a recipe.")
    elif order_baseline(release, name, recipe, name_of(request), timezone.now()) is None:
        messages.info(request, f"{name} is being trained by this recipe already.")
    return redirect(context.url("baselines", number=release.number))


@baselines_page
@require_POST
def end_baseline(
    request: HttpRequest, context: CollectionContext, release: Release, run: int
) -> HttpResponse:
    """Stop a run; what it has trained stays in its folder."""
    row = get_object_or_404(BaselineRun, pk=run, release=release)
    if row.stop(timezone.now()):
        messages.success(request, f"{row.name} was stopped.")
    else:
        messages.info(request, f"{row.name} has ended already.")
    return redirect(context.url("baselines", number=release.number))


def _now(context: CollectionContext, release: Release) -> dict[str, Any]:
    known, now = trained_baselines(context), timezone.now()
    rows = BaselineRun.objects.filter(release=release)
    return {
        "release": release,
        "runs": [
            ShownRun(
                row,
                known.get(row.name),
                row.state == WorkState.WAITING and row.asked_at < now - SOON,
            )
            for row in rows
        ],
    }
