"""Finds passages of different documents that have rare names or words in common.

Terms are single words and pairs of neighbours. Those that few documents have are found by sorting,
so that the work grows with the text, and none of them makes more than some pairs.
"""

from collections.abc import Sequence
from itertools import combinations, pairwise, starmap
from pathlib import Path
from typing import Any, NamedTuple

from collector.array_files import Columns, column
from collector.retrieval.terms import terms

PART_BITS = 6
N_PARTS = 1 << PART_BITS
PAIR_BITS = 32
# Of the number of a term that is written with a capital where no sentence begins; of a pair whose
# both words are.
CAPITAL = 1 << 31
NAMED = 1 << 63
PASSAGES_AT_ONCE = 2000
MIX = 0x9E3779B97F4A7C15
SENTENCE_ENDS = ".!?:…。！？؟।"
CLOSERS = "\"'”’»)]」』"
# Longer ones are whole sentences of a script without blanks, and hardly come twice.
LONGEST_KEPT = 30
# How much a term that is shared tells: names the most, words of scripts without capitals next.
NAME, UNCASED, WORD, NUMBER = 1.0, 0.6, 0.25, 0.1
# Two of them side by side.
PAIR = 1.5
# Of a word that is written with a capital where no sentence begins, and hardly ever without.
MOST_WITHOUT_CAPITAL = 0.1
# Of each passage so many connections are kept: it is drawn once.
STRONGEST = 5
# Each further term that a pair has in common counts so much of the one before.
FADING = 0.5


class Connection(NamedTuple):
    """Two passages by number, the lower first; `third`: another that has their strongest term."""

    strength: float
    first: int
    second: int
    third: int | None


class TermReader:
    """Numbers the terms of passages, and knows which of them are names."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._words: list[str] = []
        self._with_capital: list[int] = []
        self._without: list[int] = []
        self._of_token: dict[str, tuple[int, ...]] = {}

    def read(self, text: str) -> list[list[int]]:
        """Return the numbers of a text's terms, in parts between which no pair is formed.

        Those that are written with a capital where no sentence begins have the bit CAPITAL.
        """
        parts: list[list[int]] = [[]]
        begins = True
        for token in text.split():
            numbers = self._of_token.get(token)
            if numbers is None:
                numbers = tuple(self._number(term) for term in terms(token))
                if len(token) <= LONGEST_KEPT:
                    self._of_token[token] = numbers
            if len(numbers) == 1 and not begins:
                letter = next(filter(str.isalnum, token), "")
                if letter.isupper():
                    self._with_capital[numbers[0]] += 1
                    numbers = (numbers[0] | CAPITAL,)
                elif letter.islower():
                    self._without[numbers[0]] += 1
            parts[-1].extend(numbers)
            begins = token.rstrip(CLOSERS)[-1:] in SENTENCE_ENDS
            if begins:
                parts.append([])
        return parts

    def weights(self) -> Any:
        """Return how much each term tells that two passages share, float64 by number."""
        import numpy

        return numpy.array([self._weight(number) for number in range(len(self._words))])

    def _number(self, term: str) -> int:
        number = self._numbers.setdefault(term, len(self._numbers))
        if number == len(self._words):
            self._words.append(term)
            self._with_capital.append(0)
            self._without.append(0)
        return number

    def _weight(self, number: int) -> float:
        word, capitals = self._words[number], self._with_capital[number]
        if word.isdecimal():
            return NUMBER
        if word.lower() == word.upper():
            return UNCASED
        is_name = self._without[number] <= MOST_WITHOUT_CAPITAL * capitals
        return NAME if capitals and is_name else WORD


class TermColumns:
    """Which passage has which terms, written to columns in a folder as passages are read."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._found: list[Any] = []
        self._passages: list[Any] = []

    def add(self, passage: int, parts: Sequence[Sequence[int]]) -> None:
        """Add the single terms of a passage, and the pairs of neighbours in its parts."""
        import numpy

        single: set[int] = set()
        for part in parts:
            single.update(number & ~CAPITAL for number in part)
            single.update(starmap(_pair, pairwise(part)))
        self._found.append(numpy.fromiter(single, "<u8", len(single)))
        self._passages.append(numpy.full(len(single), passage, "<u4"))
        if len(self._found) == PASSAGES_AT_ONCE:
            self.flush()

    def flush(self) -> None:
        """Write what was added last."""
        import numpy

        if not self._found:
            return
        found, passages = numpy.concatenate(self._found), numpy.concatenate(self._passages)
        self._found, self._passages = [], []
        place = (found * numpy.uint64(MIX) >> numpy.uint64(64 - PART_BITS)).astype("<i8")
        order = numpy.argsort(place, kind="stable")
        found, passages = found[order], passages[order]
        cuts = numpy.searchsorted(place[order], range(N_PARTS + 1))
        for at in range(N_PARTS):
            here = slice(cuts[at], cuts[at + 1])
            self._columns.add(f"terms-{at}", found[here])
            self._columns.add(f"passages-{at}", passages[here])


def connections(
    folder: Path, documents: Any, weights: Any, max_documents: int, same: Sequence[int]
) -> list[Connection]:
    """Return the pairs of passages that terms connect, the strongest first.

    folder: of the columns, closed. documents: int64[n_passages], the document of each. weights: of
    each term. max_documents: a term that more of them have connects nothing. same: the group of
    near duplicates of each passage; two of one are not connected.
    Of each document a term takes the first passage that has it.
    """
    import numpy

    n_documents = len(numpy.unique(documents))
    pairs: list[tuple[Any, Any, Any]] = []
    for part in range(N_PARTS):
        rare, passages, starts = _rare(folder, part, documents, max_documents)
        n_with = numpy.diff(starts)
        told = _told(rare[starts[:-1]], weights) * numpy.log(1 + n_documents / n_with)
        pairs += _pairs(passages, starts, n_with, told)
    if not pairs:
        return []
    keys, strengths, thirds = (numpy.concatenate(each) for each in zip(*pairs, strict=True))
    return _summed(keys, strengths, thirds, same)


def _rare(folder: Path, part: int, documents: Any, max_documents: int) -> tuple[Any, Any, Any]:
    """Return terms of 2 … max_documents documents with the first passage of each, by term.

    The postings of the i-th term are starts[i] … starts[i + 1].
    """
    import numpy

    found, passages = (
        column(folder, f"terms-{part}", "<u8"),
        column(folder, f"passages-{part}", "<u4"),
    )
    # Passages are in the order of documents already.
    order = numpy.argsort(found, kind="stable")
    found, passages = found[order], passages[order].astype("<i8")
    of = documents[passages]
    first = numpy.ones(len(found), bool)
    first[1:] = (found[1:] != found[:-1]) | (of[1:] != of[:-1])
    found, passages = found[first], passages[first]
    starts = numpy.flatnonzero(numpy.diff(found, prepend=~found[:1]))
    n_with = numpy.diff(starts, append=len(found))
    kept = numpy.repeat((n_with >= 2) & (n_with <= max_documents), n_with)
    n_with = n_with[(n_with >= 2) & (n_with <= max_documents)]
    return found[kept], passages[kept], numpy.concatenate([[0], n_with.cumsum()]).astype("<i8")


def _pair(first: int, second: int) -> int:
    """Return two neighbours as one term."""
    named = NAMED if first & second & CAPITAL else 0
    return named | ((first & ~CAPITAL) + 1) << PAIR_BITS | (second & ~CAPITAL)


def _told(found: Any, weights: Any) -> Any:
    """Return how much each term tells; a pair more than its words, a pair of names the most."""
    import numpy

    if not len(found):
        return numpy.zeros(0)
    second = weights[(found & numpy.uint64((1 << PAIR_BITS) - 1)).astype("<i8")]
    first = (found >> numpy.uint64(PAIR_BITS) & numpy.uint64(CAPITAL - 1)).astype("<i8") - 1
    of_first = weights[numpy.maximum(first, 0)]
    told = numpy.where(first < 0, second, PAIR * numpy.minimum(of_first, second))
    return numpy.where(found >= numpy.uint64(NAMED), PAIR * NAME, told)


def _pairs(passages: Any, starts: Any, n_with: Any, told: Any) -> list[tuple[Any, Any, Any]]:
    """Return (pairs as keys, what the term tells, a third passage or -1) of all terms of a part."""
    import numpy

    made = []
    for n in numpy.unique(n_with).tolist():
        chosen = numpy.flatnonzero(n_with == n)
        rows = passages[starts[:-1][chosen][:, None] + numpy.arange(n)]
        for one, other in combinations(range(n), 2):
            rest = [at for at in range(n) if at not in (one, other)]
            third = rows[:, rest[0]] if rest else numpy.full(len(rows), -1)
            low = numpy.minimum(rows[:, one], rows[:, other])
            high = numpy.maximum(rows[:, one], rows[:, other])
            made.append(((low << PAIR_BITS) | high, told[chosen], third))
    return made


def _summed(keys: Any, told: Any, thirds: Any, same: Sequence[int]) -> list[Connection]:
    """Return each pair once with the sum of what its terms tell, each further one counting less."""
    import numpy

    order = numpy.lexsort((thirds, -told, keys))
    keys, told, thirds = keys[order], told[order], thirds[order]
    firsts = numpy.flatnonzero(numpy.diff(keys, prepend=-1))
    rank = numpy.arange(len(keys)) - numpy.repeat(firsts, numpy.diff(firsts, append=len(keys)))
    strengths = numpy.add.reduceat(told * FADING ** numpy.minimum(rank, 30), firsts)
    low, high = keys[firsts] >> PAIR_BITS, keys[firsts] & ((1 << PAIR_BITS) - 1)
    groups = numpy.asarray(same)
    apart = groups[low] != groups[high]
    low, high, strengths, third = (each[apart] for each in (low, high, strengths, thirds[firsts]))
    order = numpy.lexsort((high, low, -strengths))
    low, high, strengths, third = low[order], high[order], strengths[order], third[order]
    kept = (_ranks(low) < STRONGEST) | (_ranks(high) < STRONGEST)
    rows = zip(strengths[kept], low[kept], high[kept], third[kept], strict=True)
    return [
        Connection(float(strength), int(one), int(other), int(further) if further >= 0 else None)
        for strength, one, other, further in rows
    ]


def _ranks(passages: Any) -> Any:
    """Return how often each passage has come before, in an array of passages."""
    import numpy

    order = numpy.argsort(passages, kind="stable")
    ordered = passages[order]
    firsts = numpy.flatnonzero(numpy.diff(ordered, prepend=-1))
    lengths = numpy.diff(firsts, append=len(ordered))
    ranks = numpy.empty(len(passages), "<i8")
    ranks[order] = numpy.arange(len(passages)) - numpy.repeat(firsts, lengths)
    return ranks
