"""BM25 over the passages of one book, in the variant of Lucene."""

from collections.abc import Sequence
from typing import Any


class Bm25:
    """Scores passages by the words that they share with a question.

    Lucene's variant: idf = ln(1 + (N - n + .5) / (n + .5)), never negative, times
    f / (f + k1 (1 - b + b L / A)), without the factor k1 + 1, which changes no order. f: how often
    the word stands in the passage; n: in how many of the N passages; L: the passage's length; A:
    the mean length. A word of the question counts as often as it stands there.
    """

    def __init__(self, passages: Sequence[Sequence[str]], k1: float, b: float) -> None:
        """Weigh every word of every passage once: linear in their words."""
        import numpy
        from scipy.sparse import csr_array

        self.n_passages = len(passages)
        self._number: dict[str, int] = {}
        words = [
            self._number.setdefault(word, len(self._number)) for one in passages for word in one
        ]
        lengths = numpy.array([len(one) for one in passages], dtype=float)
        places = numpy.repeat(numpy.arange(len(passages)), lengths.astype(int))
        counts = csr_array(
            (numpy.ones(len(words)), (words, places)), shape=(len(self._number), len(passages))
        )
        counts.sum_duplicates()
        found = numpy.diff(counts.indptr)
        idf = numpy.log(1 + (len(passages) - found + 0.5) / (found + 0.5))
        mean = lengths.mean() if lengths.any() else 1.0
        lengthy = k1 * (1 - b + b * lengths[counts.indices] / mean)
        weights = numpy.repeat(idf, found) * counts.data / (counts.data + lengthy)
        self._weights = csr_array((weights, counts.indices, counts.indptr), shape=counts.shape)

    def scores(self, question: Sequence[str]) -> Any:
        """Return float[n_passages]; a word that no passage has adds nothing."""
        import numpy

        known = [self._number[word] for word in question if word in self._number]
        total = numpy.zeros(self.n_passages)
        for number in known:
            start, end = self._weights.indptr[number : number + 2]
            total[self._weights.indices[start:end]] += self._weights.data[start:end]
        return total

    def best(self, question: Sequence[str], most: int) -> list[int]:
        """Return the passages of the highest scores, best first, equal ones in the book's order."""
        import numpy

        return [int(one) for one in numpy.argsort(-self.scores(question), kind="stable")[:most]]
