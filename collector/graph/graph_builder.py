"""Builds a graph's file from pages and links, in memory that stays flat."""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from collector.array_files import Columns, column, numpy
from collector.graph import graph_file
from collector.processes import in_processes

NOWHERE = -1
# How many redirects are followed one after the other; wikis mend longer chains.
MAX_HOPS = 5
AT_ONCE = 1 << 20


class TitleHashes(NamedTuple):
    """Hashes of titles (uint64): of nodes, and of redirects with what they lead to."""

    of_nodes: Any
    of_redirects: Any
    redirect_targets: Any


def hashes(titles: Iterable[str]) -> Any:
    """Return one number of 64 bits for each title.

    Two of eighteen million titles share one once in a hundred thousand wikis.
    """
    digests = (hashlib.blake2b(title.encode(), digest_size=8).digest() for title in titles)
    return numpy.frombuffer(b"".join(digests), "<u8")


def write_table(folder: Path, names: TitleHashes, max_hops: int) -> None:
    """Write the table of all titles into `folder`; of chains, `max_hops` titles are followed.

    A redirect in a circle, or to a page that is no node, leads nowhere.
    """
    nodes = _Table(*_sorted(names.of_nodes, numpy.arange(len(names.of_nodes), dtype="<i4")))
    onward = _Table(*_sorted(names.of_redirects, names.redirect_targets))
    reached = numpy.full(len(names.of_redirects), NOWHERE, "<i4")
    for start in range(0, len(reached), AT_ONCE):
        part = reached[start : start + AT_ONCE]
        waiting = numpy.arange(len(part))
        current = names.redirect_targets[start : start + AT_ONCE]
        # The redirect's own title is the first that was looked up.
        for _ in range(max_hops - 1):
            part[waiting] = nodes.find(current, NOWHERE)
            found, at = onward.places(current)
            waiting, current = waiting[found], onward.values[at[found]]
    keys = numpy.concatenate([names.of_nodes, names.of_redirects])
    values = numpy.concatenate([numpy.arange(len(names.of_nodes), dtype="<i4"), reached])
    keys, values = _sorted(keys, values)
    numpy.save(folder / "keys.npy", keys)
    numpy.save(folder / "values.npy", values)


def open_table(folder: Path) -> "_Table":
    """Return the table that was written into `folder`, mapped."""
    return _Table(
        numpy.load(folder / "keys.npy", mmap_mode="r"),
        numpy.load(folder / "values.npy", mmap_mode="r"),
    )


class _Table:
    """Sorted `keys` with the value of each."""

    def __init__(self, keys: Any, values: Any) -> None:
        self.keys, self.values = keys, values

    def places(self, wanted: Any) -> tuple[Any, Any]:
        """Return which of the wanted keys there are, and the place of each."""
        if not len(self.keys):
            return numpy.zeros(len(wanted), bool), numpy.zeros(len(wanted), "<i8")
        at = numpy.minimum(numpy.searchsorted(self.keys, wanted), len(self.keys) - 1)
        return self.keys[at] == wanted, at

    def find(self, wanted: Any, missing: int) -> Any:
        """Return the value of each wanted key, or `missing`."""
        found, at = self.places(wanted)
        return numpy.where(found, self.values[at] if len(self.values) else missing, missing)


def _sorted(keys: Any, values: Any) -> tuple[Any, Any]:
    order = numpy.argsort(keys)
    return keys[order], values[order]


_table: Any


class LinkBatch(NamedTuple):
    """The links of consecutive nodes, [[start, end, title], …] as JSON text for each."""

    first: int
    links: Sequence[str]


class Edges(NamedTuple):
    """How many edges leave each node of a batch, and where all of them lead (int32)."""

    counts: Any
    targets: Any


def edges_of(batches: Iterator[LinkBatch], table: Path, processes: int) -> Iterator[Edges]:
    """Yield the edges of every batch in order; the result does not depend on `processes`.

    `table`: the folder of the table of titles. Self-links and duplicates are dropped.
    Raises BrokenProcessPool when a process ended.
    """
    if processes <= 1:
        _start(table)
        yield from map(_edges, batches)
        return
    yield from in_processes(processes, _edges, batches, _start, table)


def _start(table: Path) -> None:
    global _table
    _table = open_table(table)


def _edges(batch: LinkBatch) -> Edges:
    titles: list[str] = []
    lengths = []
    for packed in batch.links:
        found = [] if packed == "[]" else [link[2] for link in json.loads(packed)]
        lengths.append(len(found))
        titles += found
    reached = _table.find(hashes(titles), NOWHERE).astype("<i8")
    leaving = numpy.repeat(numpy.arange(len(lengths)), lengths)
    real = (reached != NOWHERE) & (reached != leaving + batch.first)
    # One number for each edge: sorted without duplicates they are in the order of the nodes.
    once = numpy.unique((leaving[real] << 32) | reached[real])
    counts = numpy.bincount(once >> 32, minlength=len(lengths))
    return Edges(counts.astype("<i4"), (once & 0xFFFFFFFF).astype("<i4"))


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
    names = TitleHashes(*(column(folder, name, "<u8") for name in TitleHashes._fields))
    write_table(folder, names, MAX_HOPS)
    n_edges = _write_edges(folder, n_nodes, links, processes, progress)
    path = folder / "graph"
    arrays = graph_file.create(path, n_nodes, n_edges)
    for name in ("page_ids", "articles", "paragraphs"):
        arrays[name][:] = column(folder, name, "<i8")
    arrays["out_offsets"][1:] = column(folder, "counts", "<i4").cumsum(dtype="<i8")
    targets = column(folder, "targets", "<i4")
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
    return path


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
