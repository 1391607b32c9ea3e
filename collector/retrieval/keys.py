"""The keys of n-grams: which bucket weighs them, and which of the bucket's n-grams they are."""

from typing import Any

from collector.retrieval.file_format import CHECK_BITS
from collector.retrieval.grams import JOINT, N_BUCKETS, bucket, counts

# Of a seed of its own, so that words of one bucket differ.
CHECK_SEED = 1
# Odd numbers of 32 bits; as they differ, so do "a b" and "b a".
FIRST, SECOND = 0x9E3779B1, 0x85EBCA77
CHECK_MASK = (1 << CHECK_BITS) - 1
# The number of every word that makes no n-gram.
SEPARATOR = 0


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
