"""A retrieval index: its file, and searching it for texts by bigram tf-idf or by shared n-grams."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from collector import array_files
from collector.array_files import ArraysError, numpy
from collector.retrieval.terms import BUCKET_BITS, JOINT, N_BUCKETS, bucket, counts, grams

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
        keys = self._keys
        return numpy.fromiter((keys[word] for word in words.tolist()), "<u8", len(words))

    def keys_of_pairs(self, firsts: Any, seconds: Any) -> Any:
        """Return the key (uint64) of each pair of neighbours, given by numbers."""
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


# Before a list this long, texts that it cannot lift among the best are given up.
LONG = 4096


class SearchHit(NamedTuple):
    """A text by its number, and its score."""

    text: int
    score: float


class _Term(NamedTuple):
    """What a query adds to texts: `weight` × ln(1 + count)."""

    weight: float
    texts: Any
    counts: Any

    @property
    def most(self) -> float:
        """Return the most that it adds to any text."""
        return self.weight * math.log1p(int(self.counts.max()))


class Index:
    """Texts by number from 0; `ids[text]` is the id it was built with.

    Scores are DrQA's: the dot product of ln(1 + count) × idf over hashed single words and pairs,
    idf = max(0, ln((N - n + .5) / (n + .5))), nothing normalised. Ties are in the order of texts.
    """

    def __init__(self, path: Path, prepare: Callable[[str], str] = str) -> None:
        """Map the file; raises RetrievalError.

        prepare: what was done to the texts before, and is done to questions.
        """
        self._prepare = prepare
        mapped = open_arrays(path)
        self.ids: Any = mapped["ids"]
        self.n_texts = len(self.ids)
        self._firsts: Any = mapped["firsts"]
        self._rests: Any = mapped["rests"]
        self._starts: Any = mapped["starts"]
        self._texts: Any = mapped["texts"]
        self._counts: Any = mapped["counts"]
        self._often_at: Any = mapped["often_at"]
        self._often: Any = mapped["often"]
        self.n_postings = len(self._texts)
        self._table_bits = table_bits(len(self._rests))

    def search(self, question: str, k: int) -> list[SearchHit]:
        """Return the k texts of the highest scores above 0, best first."""
        terms = self._terms(question)
        left = sum(term.most for term in terms)
        scores = numpy.zeros(self.n_texts)
        touched = numpy.zeros(0, "<i4")
        pending: list[Any] = []
        for at, term in enumerate(terms):
            if len(term.texts) > LONG and pending:
                touched = numpy.unique(numpy.concatenate([touched, *pending]))
                pending = []
                if len(touched) >= k:
                    partial = scores[touched]
                    least = numpy.partition(partial, len(partial) - k)[len(partial) - k]
                    if least > left:
                        # No text that is not among these can be among the best any more.
                        candidates = touched[partial + left >= least]
                        return self._best(candidates, terms[at:], k, scores[candidates])
            scores[term.texts] += term.weight * numpy.log1p(term.counts, dtype="<f8")
            pending.append(term.texts)
            left -= term.most
        touched = numpy.unique(numpy.concatenate([touched, *pending]))
        return self._best(touched, [], k, scores[touched])

    def rank(self, question: str, candidates: Any) -> list[SearchHit]:
        """Return all candidates (numbers of texts, ascending), those of the highest score first."""
        scores = numpy.zeros(len(candidates))
        return self._best(candidates, self._terms(question), len(candidates), scores)

    def filter(self, question: str, at_most: int) -> Any:
        """Return the texts that share the most n-grams with a question, ascending.

        HotpotQA C.1, Algorithm 2: those that share at least C of the question's different n-grams,
        for the least C ≥ 1 that leaves at most `at_most`; there may be none.
        """
        shared = numpy.zeros(self.n_texts, "<u2")
        for gram in dict.fromkeys(grams(self._prepare(question))):
            first, last = self._postings(key_of(gram))
            shared[self._texts[first:last]] += 1
        least = 1
        while numpy.count_nonzero(shared >= least) > at_most:
            least += 1
        return numpy.flatnonzero(shared >= least)

    def _best(
        self, candidates: Any, terms: Sequence[_Term], k: int, scores: Any
    ) -> list[SearchHit]:
        """Return the k best of the candidates, ascending, once the terms are added to `scores`."""
        # Of the type of the lists, or each would be copied.
        wanted = numpy.asarray(candidates, "<i4")
        for term in terms:
            at = numpy.searchsorted(term.texts, wanted)
            at[at == len(term.texts)] = 0
            here = term.texts[at] == wanted
            scores[here] += term.weight * numpy.log1p(term.counts[at[here]], dtype="<f8")
        order = numpy.argsort(-scores, kind="stable")[:k]
        return [SearchHit(int(candidates[each]), float(scores[each])) for each in order]

    def _terms(self, question: str) -> list[_Term]:
        """Return what the question's buckets add, those first that can add the most."""
        terms = []
        for number, n_times in Counter(map(bucket, grams(self._prepare(question)))).items():
            texts, counts = self._in_bucket(number)
            n = len(texts)
            idf = math.log((self.n_texts - n + 0.5) / (n + 0.5))
            if n and idf > 0:
                terms.append(_Term(math.log1p(n_times) * idf * idf, texts, counts))
        return sorted(terms, key=lambda term: -term.most)

    def _in_bucket(self, number: int) -> tuple[Any, Any]:
        """Return the texts with an n-gram of the bucket, ascending, and how many they have."""
        beyond = BUCKET_BITS - self._table_bits
        prefix, low = number >> beyond, number & ((1 << beyond) - 1)
        first, last = int(self._firsts[prefix]), int(self._firsts[prefix + 1])
        if beyond:
            rests = self._rests[first:last] >> (REST_BITS - beyond)
            first, last = (
                first + int(numpy.searchsorted(rests, low, side)) for side in ("left", "right")
            )
        start, end = int(self._starts[first]), int(self._starts[last])
        texts, counts = self._texts[start:end], self._full_counts(start, end)
        if last - first < 2:
            return texts, counts
        order = numpy.argsort(texts, kind="stable")
        texts, counts = texts[order], counts[order]
        different = numpy.flatnonzero(numpy.diff(texts, prepend=-1))
        if len(different) == len(texts):
            return texts, counts
        return texts[different], numpy.add.reduceat(counts, different, dtype="<i8")

    def _full_counts(self, start: int, end: int) -> Any:
        counts = self._counts[start:end]
        first, last = numpy.searchsorted(self._often_at, [start, end])
        if first < last:
            counts = counts.astype("<i8")
            counts[self._often_at[first:last].astype("<i8") - start] = self._often[first:last]
        return counts

    def _postings(self, key: int) -> tuple[int, int]:
        """Return where the postings of one n-gram begin and end."""
        prefix = key >> (KEY_BITS - self._table_bits)
        rest = key >> (KEY_BITS - self._table_bits - REST_BITS) & ((1 << REST_BITS) - 1)
        first, last = int(self._firsts[prefix]), int(self._firsts[prefix + 1])
        at = first + int(numpy.searchsorted(self._rests[first:last], rest))
        if at == last or self._rests[at] != rest:
            return 0, 0
        return int(self._starts[at]), int(self._starts[at + 1])
