"""Candidate sets: what pairs are drawn from, proposed here, and what the kept ones become."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from annotation.dashboard.access import knows, name_of
from annotation.dashboard.collection_context import CollectionContext, curated_collection_page
from annotation.dashboard.seeds.candidate_set_form import SetsForm
from collector.candidates.decisions import AddedSets, add_sets, keep_all
from collector.candidates.defaults import propose_defaults
from collector.candidates.pools import Union, union_of
from collector.candidates.proposals import CandidatesError, Proposal, Proposer, titles_in
from collector.graph.files import graph_of
from collector.graph.graph_file import Graph, GraphError
from collector.models import CandidateMember, CandidateSet, SetRole, SetState
from common.long_bodies import long_bodies_from
from common.seen_version import OutOfDateError, version_of

PER_PAGE = 40
LABELS = {SetRole.BRIDGE: "Bridge entities", SetRole.COMPARISON: "Comparison lists"}


@dataclass(frozen=True)
class Row:
    """A set with its figures.

    `linked` pages of a set of bridge entities can be drawn, `links` lead to them; `share` is how
    often a kept list is drawn; `good` of `tried` pairs worked.
    """

    set: CandidateSet
    pages: int
    linked: int
    links: int
    share: str
    tried: int
    good: int


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
        messages.success(request, f"Proposed: {_named(added.new)}. Look at their pairs.")
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
    shown: dict[str, Any] = {"role": role, "roles": _roles(context), "form": form, "tab": "seeds"}
    try:
        graph, union = graph_of(context.collection.corpus), union_of(context.collection)
    except GraphError as error:
        shown["problem"] = str(error)
        return context.render(request, "seeds/candidate_sets.html", status=status, **shown)
    state = request.GET.get("state")
    sets = context.collection.candidate_sets.filter(role=role)
    shown["counts"] = _counts(sets.values_list("state", flat=True))
    shown["n_waiting"] = next(n for name, _, n in shown["counts"] if name == SetState.PROPOSED)
    if state in SetState.values:
        sets = sets.filter(state=state)
    page = Paginator(sets.order_by("name"), PER_PAGE).get_page(request.GET.get("page"))
    return context.render(
        request,
        "seeds/candidate_sets.html",
        status=status,
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


def _roles(context: CollectionContext) -> list[tuple[str, str, int]]:
    numbers = dict(
        context.collection.candidate_sets.order_by().values_list("role").annotate(n=Count("pk"))
    )
    return [(role.value, LABELS[role], numbers.get(role, 0)) for role in SetRole]


def _counts(states: Iterable[str]) -> list[tuple[str, str, int]]:
    found = list(states)
    return [(state.value, state.label, found.count(state)) for state in SetState]


def _rows(graph: Graph, sets: Sequence[CandidateSet], union: Union) -> list[Row]:
    """Return the figures of the sets; two queries."""
    nodes = _nodes_by_set(graph, sets)
    tried = {
        pk: (n, good)
        for pk, n, good in CandidateSet.objects.filter(pk__in=[each.pk for each in sets])
        .order_by()
        .values_list("pk")
        .annotate(n=Count("trials"), good=Count("trials", filter=Q(trials__works=True)))
    }
    return [_row(graph, each, nodes[each.pk], union, *tried[each.pk]) for each in sets]


def _row(
    graph: Graph, each: CandidateSet, nodes: list[int], union: Union, tried: int, good: int
) -> Row:
    degrees = graph.in_degrees(nodes)
    is_drawn = each.role == SetRole.COMPARISON and each.state == SetState.KEPT and union.listed
    return Row(
        set=each,
        pages=len(nodes),
        linked=sum(degree > 0 for degree in degrees),
        links=sum(degrees),
        share=f"{len(nodes) / union.listed:.0%}" if is_drawn else "",
        tried=tried,
        good=good,
    )


def _nodes_by_set(graph: Graph, sets: Sequence[CandidateSet]) -> dict[int, list[int]]:
    """Return the nodes of the pages of each set, by its row; one query."""
    rows = CandidateMember.objects.filter(candidate_set__in=[each.pk for each in sets])
    pages: dict[int, list[int]] = defaultdict(list)
    for pk, page_id in rows.values_list("candidate_set_id", "article__page_id"):
        pages[pk].append(page_id)
    return {each.pk: sorted(graph.nodes_of(pages[each.pk]).values()) for each in sets}


def _added(context: CollectionContext, form: SetsForm) -> AddedSets:
    """Store what the form names; raises CandidatesError or GraphError."""
    now = timezone.now()
    if form.cleaned_data["defaults"]:
        parameters: Any = context.parameters
        return propose_defaults(context.collection, parameters.seeds, now)
    proposer = Proposer(context.collection.corpus)
    cut = Proposer(context.collection.corpus, form.cleaned_data["most_linked"] or 0)
    proposals = list(_proposals(form, proposer, cut))
    return add_sets(context.collection, proposer, proposals, now)


def _proposals(form: SetsForm, proposer: Proposer, cut: Proposer) -> Iterator[Proposal]:
    role = form.cleaned_data["role"]
    for file in form.cleaned_data["title_files"]:
        name = PurePath(file.name or "titles.txt").name
        yield proposer.titles(role, PurePath(name).stem, titles_in(file.read(), name), name)
    for title in form.cleaned_data["categories"]:
        yield cut.category(role, title)
    for title in form.cleaned_data["list_pages"]:
        yield proposer.list_page(role, title)


def _named(sets: Sequence[CandidateSet]) -> str:
    names = ", ".join(each.name for each in sets[:5])
    return names if len(sets) <= 5 else f"{names} and {len(sets) - 5} more"
