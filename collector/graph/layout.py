"""The layout of a graph's file: one line that says what it holds, then arrays in a fixed order."""

import json
import mmap
from pathlib import Path
from typing import Any

VERSION = 1
HEAD_BYTES = 4096
ALIGNMENT = 64


class GraphError(Exception):
    """The graph cannot be read or built; the message says what to do."""


def arrays(n_nodes: int, n_edges: int) -> dict[str, tuple[str, int]]:
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
    head = json.dumps({"version": VERSION, "nodes": n_nodes, "edges": n_edges}).encode()
    places, size = _places(n_nodes, n_edges)
    with path.open("wb+") as file:
        file.write(head.ljust(HEAD_BYTES - 1) + b"\n")
        file.truncate(size)
        mapped = mmap.mmap(file.fileno(), size)
    return _mapped(mapped, places)


def open_arrays(path: Path) -> dict[str, Any]:
    """Return the arrays of the graph at `path`, mapped for reading; raises GraphError."""
    try:
        with path.open("rb") as file:
            head = json.loads(file.readline(HEAD_BYTES))
            places, size = _places(head["nodes"], head["edges"])
            if head["version"] != VERSION or path.stat().st_size != size:
                raise ValueError("another version, or cut short")
            mapped = mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise GraphError(
            f"{path} is no graph that can be read ({error}); build it again with build_graph."
        ) from None
    return _mapped(mapped, places)


def _places(n_nodes: int, n_edges: int) -> tuple[dict[str, tuple[str, int, int]], int]:
    """Return the type, length and first byte of each array, and the size of the whole file."""
    import numpy

    at = HEAD_BYTES
    places = {}
    for name, (kind, length) in arrays(n_nodes, n_edges).items():
        places[name] = (kind, length, at)
        at += -(-length * numpy.dtype(kind).itemsize // ALIGNMENT) * ALIGNMENT
    return places, at


def _mapped(mapped: mmap.mmap, places: dict[str, tuple[str, int, int]]) -> dict[str, Any]:
    import numpy

    return {
        name: numpy.frombuffer(mapped, kind, length, at)
        for name, (kind, length, at) in places.items()
    }
