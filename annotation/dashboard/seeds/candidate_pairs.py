"""One candidate set: pairs as they would be drawn, tried by a person who keeps or drops the set."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from annotation.dashboard.access import name_of
from annotation.dashboard.collection_context import CollectionContext, curated_collection_page
from annotation.dashboard.forms import number_of
from annotation.dashboard.questions.passages import Passage, paragraph_alone
from collector.candidates.decisions import decide, try_pair
from collector.candidates.pools import Pair, Pools, linked, nodes_of
from collector.candidates.proposals import CandidatesError
from collector.graph.files import graph_of
from collector.graph.graph_file import Graph, GraphError
from collector.ingest.link_resolution import Resolver
from collector.models import CandidateSet, Paragraph, SetRole, SetState
from common.seen_version import OutOfDateError

PAIRS = 4
MAX_REDRAWS = 50
MOST_DRAWS = 10_000
DONE = {
    SetState.KEPT: "kept. Pairs will be drawn from it.",
    SetState.DROPPED: "dropped. No pair will be drawn from it.",
    SetState.PROPOSED: "waits for a decision again.",
}


@dataclass(frozen=True)
class Trial:
    """Two paragraphs, the link between them marked; `works` is what was said of them, or None."""

    first: Passage
    second: Passage
    articles: tuple[int, int]
    works: bool | None


@curated_collection_page
@require_safe
def candidate_set(request: HttpRequest, context: CollectionContext, key: int) -> HttpResponse:
    """Show some pairs of the set, the same again for the same number in the address."""
    each = _set(context, key)
    number = number_of(request.GET.get("draw", ""), 4, otherwise=1)
    waiting = context.collection.candidate_sets.filter(state=SetState.PROPOSED).exclude(pk=each.pk)
    shown: dict[str, Any] = {
        "set": each,
        "number": number,
        "following": min(number + 1, MOST_DRAWS),
        "next": waiting.filter(role=each.role).first() or waiting.first(),
        "n_waiting": waiting.count(),
        "locked": context.collection.state != "draft",
        "tab": "seeds",
    }
    try:
        graph = graph_of(context.collection.corpus)
    except GraphError as error:
        return context.render(request, "seeds/candidate_pairs.html", problem=str(error), **shown)
    nodes = nodes_of(graph, each)
    usable = linked(graph, nodes)
    works = list(each.trials.values_list("works", flat=True))
    return context.render(
        request,
        "seeds/candidate_pairs.html",
        pages=len(nodes),
        usable=len(usable),
        links=sum(graph.in_degrees(usable)),
        tried=len(works),
        good=sum(works),
        trials=_trials(context, each, _pairs(context, each, graph, number), graph),
        **shown,
    )


@curated_collection_page
@require_POST
def decide_set(request: HttpRequest, context: CollectionContext, key: int) -> HttpResponse:
    """Keep the set, drop it, or undo either."""
    each = _set(context, key)
    state = request.POST.get("decision", "")
    if state not in SetState.values:
        messages.error(request, "Choose: keep, drop, or undo.")
        return redirect(_back(request, context, each))
    rows = CandidateSet.objects.filter(pk=each.pk)
    try:
        with context.unchanged(request, lambda: rows.values_list("state", flat=True)[0]):
            lost = decide(each, state, name_of(request), timezone.now())
    except (CandidatesError, OutOfDateError) as error:
        messages.error(request, str(error))
        return redirect(_back(request, context, each))
    said = f"“{each.name}” {DONE[SetState(state)]}"
    if lost:
        said += f" {lost} seed{'s were' if lost > 1 else ' was'} drawn from other sets and let go."
    messages.success(request, said)
    return redirect(_back(request, context, each))


@curated_collection_page
@require_POST
def try_candidate(request: HttpRequest, context: CollectionContext, key: int) -> HttpResponse:
    """Note whether a question can be asked about a pair, or take the note back."""
    each = _set(context, key)
    articles = [number_of(request.POST.get(name, "")) for name in ("first", "second")]
    # A link of the pair leads to a page of the set, or both are in it.
    inside = each.members.filter(article_id__in=articles[1:]).count()
    known = context.collection.corpus.articles.filter(pk__in=articles).count()
    said = {"yes": True, "no": False, "undo": None}
    if not inside or known < 2 or request.POST.get("works") not in said:
        messages.error(request, "That pair is not of this set: draw again.")
        return redirect(_back(request, context, each))
    works = said[request.POST["works"]]
    try_pair(each, (articles[0], articles[1]), works, name_of(request), timezone.now())
    return redirect(f"{_back(request, context, each)}#pair-{articles[0]}-{articles[1]}")


def _set(context: CollectionContext, key: int) -> CandidateSet:
    return get_object_or_404(context.collection.candidate_sets, pk=key)


def _back(request: HttpRequest, context: CollectionContext, each: CandidateSet) -> str:
    """Return where the form was: the list of sets, or this set with the same pairs."""
    if request.POST.get("from") == "list":
        return f"{context.url('candidate_sets')}?role={each.role}"
    number = number_of(request.POST.get("draw", ""), 4, otherwise=1)
    return f"{context.url('candidate_set', key=each.pk)}?draw={number}"


def _pairs(context: CollectionContext, each: CandidateSet, graph: Graph, number: int) -> list[Pair]:
    """Return different pairs as they are drawn from this set alone."""
    rng = random.Random(f"{context.collection.random_seed}:set:{each.role}:{each.name}:{number}")
    nodes = nodes_of(graph, each)
    if each.role == SetRole.BRIDGE:
        bridges = dict.fromkeys(linked(graph, nodes), each.name)
        draw = Pools(graph, bridges, {}).bridge_drawer().draw
        possible = bool(bridges)
    else:
        draw = Pools(graph, {}, {each.name: tuple(nodes)}).list_drawer().draw
        possible = len(nodes) > 1
    found: dict[frozenset[int], Pair] = {}
    for _ in range(MAX_REDRAWS if possible else 0):
        _, pair = draw(rng)
        found.setdefault(frozenset(pair), pair)
        if len(found) == PAIRS:
            break
    return list(found.values())


def _trials(
    context: CollectionContext, each: CandidateSet, pairs: list[Pair], graph: Graph
) -> Iterator[Trial]:
    """Yield the pairs with their texts and marks; four queries, and some for redirects."""
    ids = [int(graph.paragraphs[node]) for pair in pairs for node in pair]
    rows = Paragraph.objects.select_related("article__corpus").in_bulk(ids)
    resolver = Resolver(context.collection.corpus)
    leads = resolver.resolve({title for row in rows.values() for _, _, title in row.links})
    said = {
        (first, second): works
        for first, second, works in each.trials.values_list("first_id", "second_id", "works")
    }
    for pair in pairs:
        first, second = (rows[int(graph.paragraphs[node])] for node in pair)
        target = second.article_id if each.role == SetRole.BRIDGE else None
        articles = (first.article_id, second.article_id)
        yield Trial(
            first=_passage(first, leads, target),
            second=_passage(second, leads, None),
            articles=articles,
            works=said.get(articles),
        )


def _passage(row: Paragraph, leads: dict[str, int], target: int | None) -> Passage:
    """Return a paragraph with its links marked, those to `target` as evidence."""
    spans = [
        (start, end, "evidence" if target is not None and leads.get(title) == target else "link")
        for start, end, title in row.links
    ]
    return paragraph_alone(row, spans)
