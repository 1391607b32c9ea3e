"""From the links of first paragraphs to edges, in several processes."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from collector.graph.titles import NOWHERE, hashes, open_table
from collector.parallel import in_processes

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
    import numpy

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
