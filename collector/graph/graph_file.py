"""A graph's file: its arrays, and the neighbours, degrees and uniform draws that they give."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from collector import array_files
from collector.array_files import ArraysError, numpy

VERSION = 2


class GraphError(Exception):
    """The graph cannot be read or built; the message says what to do."""


def shapes(n_nodes: int, n_edges: int) -> dict[str, tuple[str, int]]:
    """Return the name of each array with its type and length, in the file's order.

    A node is an article with a first paragraph; nodes are numbered in the order of page ids.
    `page_ids`, `articles` (their rows), `paragraphs` (rows of the first paragraphs): of each node.
    `targets[out_offsets[a] : out_offsets[a + 1]]`: to which nodes a leads, ascending.
    Edges (edge_from[e], edge_to[e]) are ordered by where they lead; those to b are
    `in_offsets[b] … in_offsets[b + 1]`, so that in-degrees are differences.
    """
    return {
        "page_ids": ("<i8", n_nodes),
        "articles": ("<i8", n_nodes),
        "paragraphs": ("<i8", n_nodes),
        "out_offsets": ("<i8", n_nodes + 1),
        "in_offsets": ("<i8", n_nodes + 1),
        "targets": ("<i4", n_edges),
        "edge_from": ("<i4", n_edges),
        "edge_to": ("<i4", n_edges),
    }


def create(path: Path, n_nodes: int, n_edges: int) -> dict[str, Any]:
    """Write an empty graph to `path` and return its arrays, mapped for writing."""
    return array_files.create(path, _holds(), shapes(n_nodes, n_edges))


def open_arrays(path: Path) -> dict[str, Any]:
    """Return the arrays of the graph at `path`, mapped for reading; raises GraphError."""
    try:
        return array_files.read(path, _holds())
    except ArraysError as error:
        raise GraphError(f"{error}: build it again with build_graph.") from None


def _holds() -> str:
    return f"hyperlink graph {VERSION}"


class Graph:
    """The hyperlinks between first paragraphs (HotpotQA 2); nodes are numbers from 0.

    `articles[node]` and `paragraphs[node]` are ids of rows; `layout.shapes` says what the other
    arrays are.
    """

    def __init__(self, path: Path) -> None:
        """Map the file; raises GraphError."""
        mapped = open_arrays(path)
        self.page_ids: Any = mapped["page_ids"]
        self.articles: Any = mapped["articles"]
        self.paragraphs: Any = mapped["paragraphs"]
        self._out: Any = mapped["out_offsets"]
        self._in: Any = mapped["in_offsets"]
        self._targets: Any = mapped["targets"]
        self._from: Any = mapped["edge_from"]
        self.n_nodes = len(self.page_ids)
        self.n_edges = len(self._targets)

    def in_degrees(self, nodes: Sequence[int]) -> list[int]:
        """Return how many nodes lead to each of `nodes`."""
        at = numpy.asarray(nodes, "<i8")
        return [int(degree) for degree in self._in[at + 1] - self._in[at]]

    def targets(self, node: int) -> list[int]:
        """Return the nodes that `node` leads to, ascending."""
        return [int(each) for each in self._targets[self._out[node] : self._out[node + 1]]]

    def sources(self, node: int) -> list[int]:
        """Return the nodes that lead to `node`, ascending."""
        return [int(each) for each in self._from[self._in[node] : self._in[node + 1]]]

    def draw_source(self, node: int, rng: random.Random) -> int:
        """Return the a of a uniform edge (a, node); raises ValueError where none leads there."""
        start = int(self._in[node])
        return int(self._from[start + rng.randrange(int(self._in[node + 1]) - start)])

    def nodes_of(self, page_ids: Sequence[int]) -> dict[int, int]:
        """Return the node of each page; pages that are none are left out."""
        if not self.n_nodes:
            return {}
        wanted = numpy.asarray(page_ids, "<i8")
        at = numpy.minimum(numpy.searchsorted(self.page_ids, wanted), self.n_nodes - 1)
        found = self.page_ids[at] == wanted
        return dict(zip(wanted[found].tolist(), at[found].tolist(), strict=True))
