"""What the kept sets of a collection become: the pages that pairs are drawn from."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import QuerySet

from collector.candidates.drawing import Pools
from collector.graph.files import graph_of
from collector.graph.links import Graph
from collector.models import CandidateMember, CandidateSet, Collection, SetRole, SetState


@dataclass(frozen=True)
class Union:
    """Counts of the pools: bridge entities, edges to them, and what kept sets hold in vain.

    `without_links` pages of kept sets have no edge to them and are left out.
    """

    entities: int
    edges: int
    without_links: int
    lists: int
    listed: int


def pools_of(collection: Collection) -> Pools:
    """Return what the kept sets of the collection hold; raises GraphError."""
    graph = graph_of(collection.corpus)
    bridges: dict[int, str] = {}
    lists: dict[str, tuple[int, ...]] = {}
    for each in collection.candidate_sets.filter(state=SetState.KEPT).order_by("name"):
        nodes = nodes_of(graph, each)
        if each.role == SetRole.BRIDGE:
            for node in linked(graph, nodes):
                bridges.setdefault(node, each.name)
        elif len(nodes) > 1:
            lists[each.name] = tuple(nodes)
    # In an order that no database decides.
    in_order = {node: bridges[node] for node in sorted(bridges)}
    return Pools(graph, in_order, {name: lists[name] for name in sorted(lists)})


def union_of(collection: Collection) -> Union:
    """Return what the kept sets become together; raises GraphError."""
    pools = pools_of(collection)
    kept = _members(collection.candidate_sets.filter(state=SetState.KEPT, role=SetRole.BRIDGE))
    return Union(
        entities=len(pools.bridges),
        edges=sum(pools.graph.in_degrees(list(pools.bridges))),
        without_links=kept.values("article").distinct().count() - len(pools.bridges),
        lists=len(pools.lists),
        listed=sum(len(pages) for pages in pools.lists.values()),
    )


def nodes_of(graph: Graph, each: CandidateSet) -> list[int]:
    """Return the nodes of a set's pages, ascending."""
    pages = each.members.values_list("article__page_id", flat=True)
    return sorted(graph.nodes_of(list(pages)).values())


def linked(graph: Graph, nodes: Iterable[int]) -> list[int]:
    """Return those of the nodes that an edge leads to."""
    nodes = list(nodes)
    return [node for node, n in zip(nodes, graph.in_degrees(nodes), strict=True) if n]


def _members(sets: QuerySet[CandidateSet]) -> QuerySet[CandidateMember]:
    return CandidateMember.objects.filter(candidate_set__in=sets)
