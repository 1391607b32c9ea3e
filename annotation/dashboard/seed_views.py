"""The seeds of a collection: shown, and chosen."""

from itertools import groupby
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST, require_safe

from annotation.dashboard.collection_context import CollectionContext, collection_page
from annotation.dashboard.collections.parameter_form import own_label
from annotation.dashboard.forms import number_of
from annotation.dashboard.lists import segments
from annotation.dashboard.questions.reading import passage, passages, seed_paragraphs
from collector.models import CollectionState
from collector.protocols.loading import ProtocolError
from collector.protocols.parameters import FOLDS
from collector.seeds.selection import (
    LooserThreshold,
    cautions_of,
    find_looser,
    is_curated,
    n_needed,
    noun_of,
    select_seeds,
    stages_from_seeds,
)
from common.actions import ActionError
from common.sent_form import FIELD
from tasks.work.kinds.registry import kind_of

PER_PAGE = 8
MOST_AT_ONCE = 100_000
LONGEST_COUNT = 20


@collection_page
@require_safe
def seeds(request: HttpRequest, context: CollectionContext) -> HttpResponse:
    """Show the folds and a page of seeds with their real text."""
    rows = context.collection.seeds.order_by()
    counts = dict(rows.values_list("fold").annotate(n=Count("pk")))
    fold = request.GET.get("fold")
    rows = context.collection.seeds.order_by("position")
    if fold in counts:
        rows = rows.filter(fold=fold)
    page = Paginator(rows.prefetch_related(seed_paragraphs()), PER_PAGE).get_page(
        request.GET.get("page")
    )
    folds = {name: counts[name] for name in (*FOLDS, "") if name in counts}
    total = sum(counts.values())
    # Without a fold are those of the qualification, or all: the protocol splits later.
    later = set(counts) == {""}
    curated = is_curated(context.collection)
    # A set's passages stand each for itself: none is the beginning of another's article.
    apart = curated or any(kind_of(one).cites_passages for one in context.collection.stages.all())
    return context.render(
        request,
        "seeds/seeds.html",
        tab="seeds",
        total=total,
        typed=request.GET.get("count", "")[:LONGEST_COUNT],
        planned=total if later else total - counts.get("", 0),
        unfolded="to be split later" if later else "for the qualification",
        curated=curated,
        folds=folds,
        bar=segments(
            [(name or "none", number) for name, number in folds.items()], sum(counts.values())
        ),
        fold=fold if fold in counts else None,
        page=page,
        cautions=cautions_of(context.collection),
        stages=_stages(context),
        noun=noun_of(context.collection),
        **_looser(context, _number(request.GET.get("count", ""))),
        shown=[(seed, passages(seed) if apart else [passage(seed)]) for seed in page],
    )


def _looser(context: CollectionContext, count: int) -> dict[str, Any]:
    """Return (key, label, what other values would give) of each threshold that can be loosened.

    `together` is the same of those that only together give the `count` that was asked for.
    """
    if not count or context.collection.state != CollectionState.DRAFT:
        return {}
    needed = n_needed(context.collection, count)
    found = find_looser(context.collection, needed)
    together = _by_key(found.together)
    most = found.together[-1].n_seeds if found.together else 0
    return {
        "looser": _by_key(found.single),
        "together": together if len(together) > 1 else [],
        "needed": needed,
        "most": most,
    }


def _by_key(values: list[LooserThreshold]) -> list[tuple[str, str, list[tuple[str, int]]]]:
    """Return (key, label, each value as it is read and its seeds) of each threshold."""
    rows = groupby(values, key=lambda one: one.key)
    return [
        (
            key,
            own_label(key.rpartition(".")[2]),
            [
                (
                    f"{one.value:,}" if isinstance(one.value, int) else str(one.value or "none"),
                    one.n_seeds,
                )
                for one in ones
            ],
        )
        for key, ones in rows
    ]


def _number(typed: str) -> int:
    """Return the number that was typed, 0 where it is no number or too large."""
    count = number_of(typed, 8)
    return count if count <= MOST_AT_ONCE else 0


@collection_page
@require_POST
def choose_seeds(request: HttpRequest, context: CollectionContext) -> HttpResponse:
    """Choose more seeds by the collection's own random seed; all that were asked for, or none."""
    typed = request.POST.get("count", "").strip()
    count = _number(typed)
    if not count:
        messages.error(request, f"Write how many more: a number from 1 to {MOST_AT_ONCE:,}.")
        return _back_with(context, typed)
    left: list[tuple[int, str]] = []
    try:
        folds = select_seeds(
            context.collection,
            count,
            tell=lambda what, number: left.append((number, what)),
            seen=request.POST.get(FIELD, ""),
        )
    except (ActionError, ProtocolError) as error:
        messages.error(request, str(error))
        _tell_filters(request, left)
        return _back_with(context, typed)
    spread = ", ".join(f"{folds[name]} {name}" for name in FOLDS if folds.get(name))
    into = f" ({spread})" if spread else ""
    stages = _stages(context)
    each = f", {count} for each of {' and '.join(stages)}" if stages[1:] else ""
    chosen = sum(folds.values())
    seeds = "seed" if chosen == 1 else "seeds"
    messages.success(request, f"Chosen: {chosen} more {seeds}{into}{each}.")
    _tell_filters(request, left)
    return redirect(context.url("seeds"))


def _tell_filters(request: HttpRequest, left: list[tuple[int, str]]) -> None:
    """Say how many of what each filter of the protocol has left, where it tells."""
    if left:
        # Once nothing is left, the filters that come after have nothing to say.
        empty = next((at for at, (number, _) in enumerate(left, 1) if not number), len(left))
        steps = "; ".join(f"{number:,} {what}" for number, what in left[:empty])
        messages.info(request, f"Left by one filter after the other: {steps}.")


def _back_with(context: CollectionContext, typed: str) -> HttpResponse:
    """Return to the page with what was typed still in its field."""
    return redirect(f"{context.url('seeds')}?{urlencode({'count': typed[:LONGEST_COUNT]})}")


def _stages(context: CollectionContext) -> list[str]:
    """Return the stages that each get as many seeds as are asked for, by their names on pages."""
    names = stages_from_seeds(context.parameters)
    return [str(one) for one in context.collection.stages.all() if one.name in names]
