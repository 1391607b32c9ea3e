"""Builds a graph's file from pages and links: two counting passes, in memory that stays flat."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from collector.array_files import Columns, column
from collector.graph import graph_file
from collector.graph.edges import LinkBatch, edges_of
from collector.graph.titles import MAX_HOPS, TitleHashes, hashes, write_table

NODES_AT_ONCE = 5000
EDGES_AT_ONCE = 1 << 20

Progress = Callable[[str, float], object]
Links = Callable[[Sequence[int]], Sequence[str]]


def build(
    folder: Path,
    pages: Iterable[Sequence[Any]],
    links: Links,
    *,
    processes: int = 1,
    progress: Progress = lambda what, share: None,
) -> Path:
    """Write the graph into the empty `folder` and return its path; the bytes depend on input alone.

    pages: batches of graph.pages.Page in the order of page ids. `links(paragraphs)`: of each
    paragraph's row id, its links as JSON text. `progress` hears what is done, and its share.
    Memory: some forty bytes for each title, whatever the number of edges.
    """
    n_nodes = _write_nodes(folder, pages, progress)
    names = TitleHashes(*(column(folder, name, "<u8") for name in TitleHashes._fields))
    write_table(folder, names, MAX_HOPS)
    n_edges = _write_edges(folder, n_nodes, links, processes, progress)
    path = folder / "graph"
    arrays = graph_file.create(path, n_nodes, n_edges)
    for name in ("page_ids", "articles", "paragraphs"):
        arrays[name][:] = column(folder, name, "<i8")
    arrays["out_offsets"][1:] = column(folder, "counts", "<i4").cumsum(dtype="<i8")
    _turn_round(arrays, column(folder, "targets", "<i4"), progress)
    return path


def _write_nodes(folder: Path, pages: Iterable[Sequence[Any]], progress: Progress) -> int:
    """Write the columns of nodes and of names; return the number of nodes."""
    import numpy

    n_nodes = 0
    with Columns(folder) as columns:
        for batch in pages:
            nodes = [page for page in batch if page.paragraph is not None]
            redirects = [page for page in batch if page.redirect_target]
            columns.add("page_ids", numpy.array([page.page_id for page in nodes], "<i8"))
            columns.add("articles", numpy.array([page.article for page in nodes], "<i8"))
            columns.add("paragraphs", numpy.array([page.paragraph for page in nodes], "<i8"))
            columns.add("of_nodes", hashes(page.title for page in nodes))
            columns.add("of_redirects", hashes(page.title for page in redirects))
            columns.add("redirect_targets", hashes(page.redirect_target for page in redirects))
            n_nodes += len(nodes)
            progress(f"{n_nodes:,} first paragraphs", 0.0)
    return n_nodes


def _write_edges(
    folder: Path, n_nodes: int, links: Links, processes: int, progress: Progress
) -> int:
    """Write where edges lead and how many leave each node; return the number of edges."""
    paragraphs = column(folder, "paragraphs", "<i8")

    def batches() -> Iterator[LinkBatch]:
        for first in range(0, n_nodes, NODES_AT_ONCE):
            yield LinkBatch(first, links(paragraphs[first : first + NODES_AT_ONCE].tolist()))

    n_edges = done = 0
    with Columns(folder) as columns:
        for edges in edges_of(batches(), folder, processes):
            columns.add("counts", edges.counts)
            columns.add("targets", edges.targets)
            n_edges += len(edges.targets)
            done += len(edges.counts)
            progress(f"{n_edges:,} links", done / n_nodes)
    return n_edges


def _turn_round(arrays: dict[str, Any], targets: Any, progress: Progress) -> None:
    """Fill in what is ordered by where edges lead: count those to each node, then place each."""
    import numpy

    n_nodes = len(arrays["page_ids"])
    starts = range(0, len(targets), EDGES_AT_ONCE)
    n_in = numpy.zeros(n_nodes, "<i8")
    for start in starts:
        part = targets[start : start + EDGES_AT_ONCE]
        arrays["targets"][start : start + len(part)] = part
        n_in += numpy.bincount(part, minlength=n_nodes)
    arrays["in_offsets"][1:] = n_in.cumsum()
    following = arrays["in_offsets"][:-1].copy()
    for start in starts:
        part = targets[start : start + EDGES_AT_ONCE]
        edges = numpy.arange(start, start + len(part))
        leaving = numpy.searchsorted(arrays["out_offsets"], edges, "right") - 1
        order = numpy.argsort(part, kind="stable")
        reached, first, counts = numpy.unique(part[order], return_index=True, return_counts=True)
        places = numpy.arange(len(part)) + numpy.repeat(following[reached] - first, counts)
        arrays["edge_from"][places] = leaving[order]
        arrays["edge_to"][places] = part[order]
        following[reached] += counts
        progress("edges by where they lead", (start + len(part)) / len(targets))
