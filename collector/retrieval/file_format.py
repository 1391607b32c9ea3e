"""An index's file: postings by n-gram, n-grams by bucket, buckets by a table; and their keys."""

from pathlib import Path
from typing import Any

from collector import array_files
from collector.array_files import ArraysError
from collector.retrieval.ngrams import BUCKET_BITS, JOINT, N_BUCKETS, bucket, counts

VERSION = 1
# An n-gram's key: its bucket, then bits that tell apart the n-grams that share a bucket.
CHECK_BITS = 32
KEY_BITS = BUCKET_BITS + CHECK_BITS
REST_BITS = 32
LEAST_TABLE_BITS = 8
# A posting counts as much in one byte; where the n-gram is more often there, `often` says how much.
MANY = 255
# Of a seed of its own, so that words of one bucket differ.
CHECK_SEED = 1
# Odd numbers of 32 bits; as they differ, so do "a b" and "b a".
FIRST, SECOND = 0x9E3779B1, 0x85EBCA77
CHECK_MASK = (1 << CHECK_BITS) - 1
# The number of every word that makes no n-gram.
SEPARATOR = 0


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


def key_of(gram: str) -> int:
    """Return the key of an n-gram of one or two words."""
    first, joint, second = gram.partition(JOINT)
    check = _check(first)
    if joint:
        check = _mixed(check, _check(second))
    return bucket(gram) << CHECK_BITS | check


class Vocabulary(dict[str, int]):
    """Numbers each word as it is met, from 1."""

    def __init__(self) -> None:
        super().__init__()
        self._words = [""]
        self._keys = [0]

    def __missing__(self, word: str) -> int:
        number = SEPARATOR
        if counts(word):
            number = len(self._words)
            self._words.append(word)
            self._keys.append(key_of(word))
        self[word] = number
        return number

    def keys_of_words(self, words: Any) -> Any:
        """Return the key (uint64) of each of these words, given by number."""
        import numpy

        keys = self._keys
        return numpy.fromiter((keys[word] for word in words.tolist()), "<u8", len(words))

    def keys_of_pairs(self, firsts: Any, seconds: Any) -> Any:
        """Return the key (uint64) of each pair of neighbours, given by numbers."""
        import numpy
        from murmurhash.mrmr import hash_unicode

        words = self._words
        pairs = zip(firsts.tolist(), seconds.tolist(), strict=True)
        hashed = (hash_unicode(words[first] + JOINT + words[second]) for first, second in pairs)
        buckets = numpy.fromiter(hashed, "<i4", len(firsts)).astype("<u4").astype("<u8") % N_BUCKETS
        checks = _mixed(
            self.keys_of_words(firsts) & CHECK_MASK, self.keys_of_words(seconds) & CHECK_MASK
        )
        return buckets << CHECK_BITS | checks


def _check(word: str) -> int:
    from murmurhash.mrmr import hash_unicode

    return int(hash_unicode(word, CHECK_SEED)) & CHECK_MASK


def _mixed(first: Any, second: Any) -> Any:
    """Return the check of a pair, or of each pair, from those of its words."""
    mixed = (first * FIRST + second * SECOND) & CHECK_MASK
    return mixed ^ mixed >> 16
