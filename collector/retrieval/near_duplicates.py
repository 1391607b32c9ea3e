"""Finds texts that are nearly the same, by MinHash and bands: the work grows with their number.

Broder 1997: two texts agree at a place of their signatures with the probability that is the share
of their shingles that they have in common.
"""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any
from zlib import crc32

from collector.retrieval.terms import terms

# So many neighbouring terms are a shingle: a changed word changes three of them.
SHINGLE = 3
BANDS, ROWS = 28, 3
N_HASHES = BANDS * ROWS
MIX = 0x9E3779B97F4A7C15
# Of the shingles of two texts: two of their own on one subject have a tenth in common at most.
NEARLY_THE_SAME = 0.5
TEXTS_AT_ONCE = 100
# A text without any shingle.
EMPTY = (1 << 32) - 1


class Signatures:
    """The signatures of texts, added some at a time: uint32[n_texts, N_HASHES] in the end."""

    def __init__(self) -> None:
        import numpy

        random = numpy.random.Generator(numpy.random.PCG64(1))
        self._factors = random.integers(1, 1 << 63, N_HASHES, dtype="<u8") * 2 + 1
        self._parts: list[Any] = []

    def add(self, texts: Sequence[Any]) -> None:
        """Add texts, each the numbers of its terms (uint64) in order."""
        import numpy

        hashed = [_runs(text, SHINGLE) for text in texts]
        filled = [at for at, each in enumerate(hashed) if len(each)]
        part = numpy.full((len(texts), N_HASHES), EMPTY, "<u4")
        if filled:
            flat = numpy.concatenate([hashed[at] for at in filled])
            starts = numpy.cumsum([0, *(len(hashed[at]) for at in filled[:-1])])
            for place, factor in enumerate(self._factors):
                mixed = (flat * factor >> 32).astype("<u4")
                part[filled, place] = numpy.minimum.reduceat(mixed, starts)
        self._parts.append(part)

    def groups(self, least_share: float) -> list[int]:
        """Return of each text the least number of those that are nearly the same as it.

        least_share: of their shingles in common, by signatures. What is nearly the same as a text
        of a group is of the group.
        """
        import numpy

        if not self._parts:
            return []
        signatures = numpy.concatenate(self._parts)
        united = Groups(len(signatures))
        filled = numpy.flatnonzero(signatures[:, 0] != EMPTY)
        for band in range(BANDS):
            rows = signatures[filled, band * ROWS : (band + 1) * ROWS].astype("<u8")
            keys = rows[:, 0]
            for place in range(1, ROWS):
                keys = (keys ^ keys >> 31) * numpy.uint64(MIX) + rows[:, place]
            order = numpy.argsort(keys, kind="stable")
            ordered = keys[order]
            same = numpy.flatnonzero(ordered[1:] == ordered[:-1]) + 1
            first = numpy.searchsorted(ordered, ordered[same])
            for of_others in (same - 1, first):
                ones, others = filled[order[same]], filled[order[of_others]]
                agree = (signatures[ones] == signatures[others]).mean(axis=1) >= least_share
                for one, other in zip(ones[agree].tolist(), others[agree].tolist(), strict=True):
                    united.unite(one, other)
        return [united.of(text) for text in range(len(signatures))]


def alike(texts: Iterable[str], least_share: float = NEARLY_THE_SAME) -> list[int]:
    """Return of each text the least number of those that are nearly the same as it.

    least_share: of their shingles in common; see `Signatures.groups`. Reads the texts once.
    """
    signatures, left = Signatures(), iter(texts)
    while some := list(islice(left, TEXTS_AT_ONCE)):
        signatures.add([_numbers(text) for text in some])
    return signatures.groups(least_share)


def runs_of(text: str, length: int) -> Any:
    """Return a number for each run of so many terms of a text, uint64; a shorter text is one."""
    return _runs(_numbers(text), length)


class Groups:
    """Things by number, each in one group, which is called by its least number."""

    def __init__(self, n: int) -> None:
        self._parents = list(range(n))
        self._sizes = [1] * n

    def of(self, one: int) -> int:
        """Return the group of a thing."""
        parents = self._parents
        while parents[one] != one:
            parents[one] = parents[parents[one]]
            one = parents[one]
        return one

    def size(self, one: int) -> int:
        """Return how many are in the group of a thing."""
        return self._sizes[self.of(one)]

    def unite(self, one: int, other: int) -> None:
        """Put two groups together."""
        low, high = sorted((self.of(one), self.of(other)))
        if low != high:
            self._parents[high] = low
            self._sizes[low] += self._sizes[high]


def _numbers(text: str) -> Any:
    import numpy

    return numpy.array([crc32(term.encode()) for term in terms(text)], "<u8")


def _runs(terms: Any, length: int) -> Any:
    """Return a hash of each run of terms; a shorter text is one run."""
    import numpy

    if len(terms) == 0:
        return terms
    length = min(length, len(terms))
    hashed = numpy.zeros(len(terms) - length + 1, "<u8")
    for place in range(length):
        hashed = (hashed ^ hashed >> 29) * numpy.uint64(MIX) + terms[
            place : len(terms) - length + 1 + place
        ]
    return (hashed ^ hashed >> 32) * numpy.uint64(MIX)
