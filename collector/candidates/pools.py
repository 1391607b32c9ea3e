"""The pages that the kept sets of a collection become, and the pairs that are drawn from them."""

import random
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate

from collector.code_points import CodePoints
from collector.graph.files import graph_of
from collector.graph.graph_file import Graph
from collector.models import CandidateMember, CandidateSet, Collection, SetRole, SetState

Pair = tuple[int, int]


@dataclass(frozen=True)
class Pools:
    """What is drawn from, as nodes of the graph, in the graph's order.

    `bridges`: the pages that an edge may lead to, each with the name of its set, the first of the
    alphabet where several have it; none is without an edge to it. `lists`: two pages or more each.
    """

    graph: Graph
    bridges: dict[int, str]
    lists: dict[str, tuple[int, ...]]

    def bridge_drawer(self) -> "BridgeDrawer":
        """Return what draws edges to the union of the sets."""
        return BridgeDrawer(self.graph, self.bridges)

    def list_drawer(self) -> "ListDrawer":
        """Return what draws two pages of one of the lists."""
        return ListDrawer(self.lists)


class BridgeDrawer:
    """Draws an entity uniformly, then an edge to it uniformly, in constant time."""

    def __init__(self, graph: Graph, bridges: dict[int, str]) -> None:
        self._graph, self._names, self._entities = graph, bridges, list(bridges)

    def draw(self, rng: random.Random) -> tuple[str, Pair]:
        """Return the name of a set and an edge (a, b): the first paragraph of a links to b."""
        entity = self._entities[rng.randrange(len(self._entities))]
        return self._names[entity], (self._graph.draw_source(entity, rng), entity)


class ListDrawer:
    """Draws a list in proportion to its size, then two of its pages uniformly."""

    def __init__(self, lists: dict[str, tuple[int, ...]]) -> None:
        self._names = list(lists)
        self._lists = lists
        self._sizes = list(accumulate(len(pages) for pages in lists.values()))

    def draw(self, rng: random.Random) -> tuple[str, Pair]:
        """Return the list's name and two different pages of it, in the order drawn."""
        (name,) = rng.choices(self._names, cum_weights=self._sizes)
        first, second = rng.sample(self._lists[name], 2)
        return name, (first, second)


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
    kept = collection.candidate_sets.filter(state=SetState.KEPT)
    for each in kept.order_by(CodePoints("name")):
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
    kept = CandidateMember.objects.filter(
        candidate_set__in=collection.candidate_sets.filter(state=SetState.KEPT, role=SetRole.BRIDGE)
    )
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
