"""Draws pairs of pages: an edge that leads to one of them, or two of a list (HotpotQA 2)."""

import random
from dataclasses import dataclass
from itertools import accumulate

from collector.graph.links import Graph

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
