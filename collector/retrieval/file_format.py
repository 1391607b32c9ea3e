"""The layout of an index's file: postings by n-gram, n-grams by bucket, buckets by a table."""

from pathlib import Path
from typing import Any

from collector import array_files
from collector.array_files import ArraysError
from collector.retrieval.grams import BUCKET_BITS

VERSION = 1
# An n-gram's key: its bucket, then bits that tell apart the n-grams that share a bucket.
CHECK_BITS = 32
KEY_BITS = BUCKET_BITS + CHECK_BITS
REST_BITS = 32
LEAST_TABLE_BITS = 8
# A posting counts as much in one byte; where the n-gram is more often there, `often` says how much.
MANY = 255


class RetrievalError(Exception):
    """The index cannot be read or built; the message says what to do."""


def table_bits(n_grams: int) -> int:
    """Return how many first bits of a key the table resolves: of few n-grams it is small."""
    return min(BUCKET_BITS, max(LEAST_TABLE_BITS, n_grams.bit_length()))


def shapes(n_texts: int, n_grams: int, n_postings: int, n_often: int) -> dict[str, tuple[str, int]]:
    """Return the name of each array with its type and length, in the file's order.

    `ids`: the row of each text, in the order of texts. N-grams are ordered by key; those whose keys
    begin with the bits p are `firsts[p] … firsts[p + 1]`, and `rests` are the next 32 bits of each.
    The postings of the n-gram g are `starts[g] … starts[g + 1]`: `texts`, ascending, and `counts`.
    `often_at`, `often`: postings, ascending, whose count does not fit, and what it is.
    """
    return {
        "ids": ("<i8", n_texts),
        "firsts": ("<u4", (1 << table_bits(n_grams)) + 1),
        "rests": ("<u4", n_grams),
        "starts": ("<u4", n_grams + 1),
        "texts": ("<i4", n_postings),
        "counts": ("<u1", n_postings),
        "often_at": ("<u4", n_often),
        "often": ("<u4", n_often),
    }


def create(path: Path, *sizes: int) -> dict[str, Any]:
    """Write an empty index of these sizes to `path`; return its arrays, mapped for writing."""
    return array_files.create(path, _holds(), shapes(*sizes))


def open_arrays(path: Path) -> dict[str, Any]:
    """Return the arrays of the index at `path`, mapped for reading; raises RetrievalError."""
    try:
        return array_files.read(path, _holds())
    except ArraysError as error:
        raise RetrievalError(f"{error}: delete it and build it again with build_index.") from None


def _holds() -> str:
    return f"retrieval index {VERSION}"
