"""Candidate sets that pairs are drawn from: proposed, tried by a person, kept or dropped."""

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from annotation.dashboard.access import knows, name_of
from annotation.dashboard.collection_context import CollectionContext, curated_collection_page
from annotation.dashboard.forms import SetsForm, number_of
from annotation.dashboard.questions.reading import Passage, paragraph_alone
from collector.candidates.candidate_sets import (
    AddedSets,
    CandidatesError,
    Pair,
    Pools,
    Proposer,
    Union,
    add_sets,
    decide,
    keep_all,
    linked,
    nodes_of,
    propose_defaults,
    titles_in,
    try_pair,
    union_of,
)
from collector.graph.files import graph_of
from collector.graph.graph_file import Graph, GraphError
from collector.ingest.link_resolution import Resolver
from collector.models import CandidateMember, CandidateSet, Paragraph, SetRole, SetState
from common.long_bodies import long_bodies_from
from common.sent_form import OutOfDateError, version_of

PER_PAGE = 40
LABELS = {SetRole.BRIDGE: "Bridge entities", SetRole.COMPARISON: "Comparison lists"}
PAIRS = 4
MAX_REDRAWS = 50
MOST_DRAWS = 10_000
DONE = {
    SetState.KEPT: "kept. Pairs will be drawn from it.",
    SetState.DROPPED: "dropped. No pair will be drawn from it.",
    SetState.PROPOSED: "waits for a decision again.",
}


@curated_collection_page
@require_safe
def candidate_sets(request: HttpRequest, context: CollectionContext) -> HttpResponse:
    """Show the sets of one role, and what the kept ones of both become."""
    return _page(request, context, SetsForm(context.parameters))


@long_bodies_from(knows)
@curated_collection_page
@require_POST
def add_candidates(request: HttpRequest, context: CollectionContext) -> HttpResponse:
    """Propose what the form names: all of it, or nothing with the reason."""
    form = SetsForm(context.parameters, request.POST, request.FILES)
    if not form.is_valid():
        return _page(request, context, form, status=422)
    try:
        added = _added(context, form)
    except (CandidatesError, GraphError) as error:
        form.add_error(None, str(error))
        return _page(request, context, form, status=422)
    if added.new:
        names = ", ".join(each.name for each in added.new[:5])
        more = f" and {len(added.new) - 5} more" if len(added.new) > 5 else ""
        messages.success(request, f"Proposed: {names}{more}. Look at their pairs.")
    if added.there:
        messages.info(request, f"There already, and left as they are: {', '.join(added.there)}.")
    if not added.new and not added.there:
        messages.error(
            request, "The corpus has no categories of a fitting size: name pages or give a file."
        )
    role = form.cleaned_data["role"] or SetRole.BRIDGE
    return redirect(f"{context.url('candidate_sets')}?role={role}")


def _page(
    request: HttpRequest, context: CollectionContext, form: SetsForm, status: int = 200
) -> HttpResponse:
    role = _role(request.GET.get("role"))
    every = context.collection.candidate_sets
    numbers = dict(every.order_by().values_list("role").annotate(n=Count("pk")))
    shown: dict[str, Any] = {
        "role": role,
        "roles": [(one.value, LABELS[one], numbers.get(one, 0)) for one in SetRole],
        "form": form,
        "tab": "seeds",
    }
    try:
        graph, union = graph_of(context.collection.corpus), union_of(context.collection)
    except GraphError as error:
        shown["problem"] = str(error)
        return context.render(request, "seeds/candidate_sets.html", status=status, **shown)
    state = request.GET.get("state")
    sets = every.filter(role=role)
    states = list(sets.values_list("state", flat=True))
    if state in SetState.values:
        sets = sets.filter(state=state)
    page = Paginator(sets.order_by("name"), PER_PAGE).get_page(request.GET.get("page"))
    return context.render(
        request,
        "seeds/candidate_sets.html",
        status=status,
        counts=[(one.value, one.label, states.count(one)) for one in SetState],
        n_waiting=states.count(SetState.PROPOSED),
        union=union,
        page=page,
        rows=_rows(graph, list(page), union),
        first=next((each for each in page if each.state == SetState.PROPOSED), None),
        seen=_seen(_waiting(context, role)),
        state=state if state in SetState.values else "",
        locked=context.collection.state != "draft",
        **shown,
    )


@curated_collection_page
@require_POST
def keep_candidates(request: HttpRequest, context: CollectionContext) -> HttpResponse:
    """Keep all sets of one role that wait for a decision."""
    role = _role(request.POST.get("role"))
    waiting = _waiting(context, role)
    number = waiting.count()
    try:
        with context.unchanged(request, lambda: _seen(waiting)):
            lost = keep_all(context.collection, role, name_of(request), timezone.now())
    except (CandidatesError, OutOfDateError) as error:
        messages.error(request, str(error))
    else:
        said = f"Kept: {number:,} set{'' if number == 1 else 's'}. Pairs will be drawn from them."
        if lost:
            said += f" {lost:,} seed{'s were' if lost > 1 else ' was'} let go."
        messages.success(request, said)
    return redirect(f"{context.url('candidate_sets')}?role={role}")


def _waiting(context: CollectionContext, role: str) -> QuerySet[CandidateSet]:
    return context.collection.candidate_sets.filter(role=role, state=SetState.PROPOSED)


def _seen(waiting: QuerySet[CandidateSet]) -> str:
    """Return the version of which sets wait: as many may be others."""
    return version_of(list(waiting.order_by("pk").values_list("pk", flat=True)))


def _role(given: str | None) -> SetRole:
    return SetRole.COMPARISON if given == SetRole.COMPARISON else SetRole.BRIDGE


def _rows(graph: Graph, sets: Sequence[CandidateSet], union: Union) -> list[dict[str, Any]]:
    """Return the sets with their figures; two queries.

    `linked` pages of a set of bridge entities can be drawn, `links` lead to them; `share` is how
    often a kept list is drawn; `good` of `tried` pairs worked.
    """
    members = CandidateMember.objects.filter(candidate_set__in=[each.pk for each in sets])
    pages: dict[int, list[int]] = defaultdict(list)
    for pk, page_id in members.values_list("candidate_set_id", "article__page_id"):
        pages[pk].append(page_id)
    tried = {
        pk: (n, good)
        for pk, n, good in CandidateSet.objects.filter(pk__in=[each.pk for each in sets])
        .order_by()
        .values_list("pk")
        .annotate(n=Count("trials"), good=Count("trials", filter=Q(trials__works=True)))
    }
    found = []
    for each in sets:
        nodes = sorted(graph.nodes_of(pages[each.pk]).values())
        degrees = graph.in_degrees(nodes)
        is_drawn = each.role == SetRole.COMPARISON and each.state == SetState.KEPT and union.listed
        n_tried, good = tried[each.pk]
        found.append(
            {
                "set": each,
                "pages": len(nodes),
                "linked": sum(degree > 0 for degree in degrees),
                "links": sum(degrees),
                "share": f"{len(nodes) / union.listed:.0%}" if is_drawn else "",
                "tried": n_tried,
                "good": good,
            }
        )
    return found


def _added(context: CollectionContext, form: SetsForm) -> AddedSets:
    """Store what the form names; raises CandidatesError or GraphError."""
    now, given = timezone.now(), form.cleaned_data
    if given["defaults"]:
        parameters: Any = context.parameters
        return propose_defaults(context.collection, parameters.seeds, now)
    role, proposals = given["role"], []
    proposer = Proposer(context.collection.corpus)
    cut = Proposer(context.collection.corpus, given["most_linked"] or 0)
    for file in given["title_files"]:
        name = PurePath(file.name or "titles.txt").name
        titles = titles_in(file.read(), name)
        proposals.append(proposer.titles(role, PurePath(name).stem, titles, name))
    proposals += [cut.category(role, title) for title in given["categories"]]
    proposals += [proposer.list_page(role, title) for title in given["list_pages"]]
    return add_sets(context.collection, proposer, proposals, now)


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
) -> Iterator[dict[str, Any]]:
    """Yield the pairs with their texts, the link between them marked, and what was said of them.

    Four queries, and some for redirects.
    """
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
        yield {
            "first": _passage(first, leads, target),
            "second": _passage(second, leads, None),
            "articles": articles,
            "works": said.get(articles),
        }


def _passage(row: Paragraph, leads: dict[str, int], target: int | None) -> Passage:
    """Return a paragraph with its links marked, those to `target` as evidence."""
    spans = [
        (start, end, "evidence" if target is not None and leads.get(title) == target else "link")
        for start, end, title in row.links
    ]
    return paragraph_alone(row, spans)
