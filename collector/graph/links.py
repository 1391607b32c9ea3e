"""A graph that is drawn from: neighbours, degrees, and uniform draws in constant time."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from collector.graph.file_format import open_arrays


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
        import numpy

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
        import numpy

        if not self.n_nodes:
            return {}
        wanted = numpy.asarray(page_ids, "<i8")
        at = numpy.minimum(numpy.searchsorted(self.page_ids, wanted), self.n_nodes - 1)
        found = self.page_ids[at] == wanted
        return dict(zip(wanted[found].tolist(), at[found].tolist(), strict=True))
