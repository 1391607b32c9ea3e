"""Finds the nodes that titles lead to: a table of hashes that processes share."""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

NOWHERE = -1
# A redirect to a redirect to … is followed so many times; wikis mend longer chains.
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
    import numpy

    digests = (hashlib.blake2b(title.encode(), digest_size=8).digest() for title in titles)
    return numpy.frombuffer(b"".join(digests), "<u8")


def write_table(folder: Path, names: TitleHashes, max_hops: int) -> None:
    """Write the table of all titles into `folder`; of chains, `max_hops` titles are followed.

    A redirect in a circle, or to a page that is no node, leads nowhere.
    """
    import numpy

    reached = _followed(names, max_hops)
    keys = numpy.concatenate([names.of_nodes, names.of_redirects])
    values = numpy.concatenate([numpy.arange(len(names.of_nodes), dtype="<i4"), reached])
    keys, values = _sorted(keys, values)
    numpy.save(folder / "keys.npy", keys)
    numpy.save(folder / "values.npy", values)


def _followed(names: TitleHashes, max_hops: int) -> Any:
    """Return the node that each redirect leads to (int32), or NOWHERE."""
    import numpy

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
    return reached


def open_table(folder: Path) -> "_Table":
    """Return the table that was written into `folder`, mapped."""
    import numpy

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
        import numpy

        if not len(self.keys):
            return numpy.zeros(len(wanted), bool), numpy.zeros(len(wanted), "<i8")
        at = numpy.minimum(numpy.searchsorted(self.keys, wanted), len(self.keys) - 1)
        return self.keys[at] == wanted, at

    def find(self, wanted: Any, missing: int) -> Any:
        """Return the value of each wanted key, or `missing`."""
        import numpy

        found, at = self.places(wanted)
        return numpy.where(found, self.values[at] if len(self.values) else missing, missing)


def _sorted(keys: Any, values: Any) -> tuple[Any, Any]:
    import numpy

    order = numpy.argsort(keys)
    return keys[order], values[order]
