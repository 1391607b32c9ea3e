"""The layout of a graph's file: arrays of nodes and of edges."""

from pathlib import Path
from typing import Any

from collector import array_files
from collector.array_files import ArraysError

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
