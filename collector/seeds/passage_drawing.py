"""Draws sets of passages by several rules, each by its share, and keeps apart what belongs apart.

The strongest connections come first, but each time that a document has been shown its connections
count less, so that others come in. What a set connects, and what is nearly the same, is one group
of documents: it is in one split.
"""

import heapq
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise, starmap
from pathlib import Path
from typing import Any, NamedTuple, Self

from pydantic import Field, model_validator

from collector.array_files import Columns, column, numpy
from collector.protocols.parameters import AtMost, Table
from collector.retrieval.terms import Groups, terms

SINGLE, SHARED_TERMS, CITATION, SECTION = "single", "shared_terms", "citation", "section"
RULES = (SINGLE, SHARED_TERMS, CITATION, SECTION)


class SharesTable(Table):
    """How many of the sets each rule draws; the sum is 1."""

    single: float = Field(ge=0, le=1)
    """One passage alone."""
    shared_terms: float = Field(ge=0, le=1)
    """Passages of different documents that have rare names or words in common."""
    citation: float = Field(ge=0, le=1)
    """A passage that links to another document or names it, and a passage of that document."""
    section: float = Field(ge=0, le=1)
    """Passages of one document that stand under one heading."""

    @model_validator(mode="after")
    def _all_of_them(self) -> Self:
        if abs(sum(getattr(self, rule) for rule in RULES) - 1) > 1e-6:
            raise ValueError(f"the shares of {', '.join(RULES)} must sum to 1")
        return self


class PassageSetsTable(Table):
    """Which sets of passages are drawn."""

    min_characters: int = Field(ge=0)
    """Shorter passages are left out."""
    max_characters: int = Field(ge=1)
    """Longer passages are left out."""
    shares: SharesTable
    """How many of the sets each rule draws; what a rule cannot draw is drawn by the others."""
    three_share: float = Field(ge=0, le=1)
    """Of the sets that can have a third passage, the share that get one."""
    max_documents_with_term: int = Field(ge=2, le=50)
    """A name or word that more documents have connects no passages."""
    max_per_document: int = Field(ge=1)
    """The most sets that a document takes part in."""
    max_share_together: float = Field(gt=0, le=1)
    """The largest share of the documents that sets connect; all of these are in one split."""
    near_duplicate_share: float = Field(ge=0.4, le=1)
    """Passages that share this much of their wording are taken for the same."""
    AT_MOST = (AtMost("min_characters", "max_characters"),)


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
# How many connections of each passage are kept: it is drawn once.
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
    n_documents = len(numpy.unique(documents))
    pairs: list[tuple[Any, Any, Any]] = []
    for part in range(N_PARTS):
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
        rare, passages, starts = (
            found[kept],
            passages[kept],
            numpy.concatenate([[0], n_with.cumsum()]).astype("<i8"),
        )
        n_with = numpy.diff(starts)
        told = _told(rare[starts[:-1]], weights) * numpy.log(1 + n_documents / n_with)
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
        pairs += made
    if not pairs:
        return []
    keys, strengths, thirds = (numpy.concatenate(each) for each in zip(*pairs, strict=True))
    return _summed(keys, strengths, thirds, same)


def _pair(first: int, second: int) -> int:
    """Return two neighbours as one term."""
    named = NAMED if first & second & CAPITAL else 0
    return named | ((first & ~CAPITAL) + 1) << PAIR_BITS | (second & ~CAPITAL)


def _told(found: Any, weights: Any) -> Any:
    """Return how much each term tells; a pair more than its words, a pair of names the most."""
    if not len(found):
        return numpy.zeros(0)
    second = weights[(found & numpy.uint64((1 << PAIR_BITS) - 1)).astype("<i8")]
    first = (found >> numpy.uint64(PAIR_BITS) & numpy.uint64(CAPITAL - 1)).astype("<i8") - 1
    of_first = weights[numpy.maximum(first, 0)]
    told = numpy.where(first < 0, second, PAIR * numpy.minimum(of_first, second))
    return numpy.where(found >= numpy.uint64(NAMED), PAIR * NAME, told)


def _summed(keys: Any, told: Any, thirds: Any, same: Sequence[int]) -> list[Connection]:
    """Return each pair once with the sum of what its terms tell, each further one counting less."""
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
    order = numpy.argsort(passages, kind="stable")
    ordered = passages[order]
    firsts = numpy.flatnonzero(numpy.diff(ordered, prepend=-1))
    lengths = numpy.diff(firsts, append=len(ordered))
    ranks = numpy.empty(len(passages), "<i8")
    ranks[order] = numpy.arange(len(passages)) - numpy.repeat(firsts, lengths)
    return ranks


# What a wiki's title says to tell it from another.
_APART = re.compile(r"\s*\([^()]*\)\s*$")
# The fewest characters of a name of a single term.
SHORTEST = 3


class Citation(NamedTuple):
    """A passage, and the other document that it names or links to."""

    passage: int
    document: int


class DocumentNames:
    """The names by which documents may be cited, and who cites them."""

    def __init__(self, reader: TermReader, names: Iterable[tuple[int, Sequence[str]]]) -> None:
        """`names`: each document by number with its names."""
        self._named: dict[tuple[int, ...], int] = {}
        # Of names that begin with a term, how long they are, the longest first: however many
        # titles begin alike, a place in a text is looked up once for each length.
        self._lengths: dict[int, list[int]] = defaultdict(list)
        for document, of_it in names:
            for name in dict.fromkeys(_APART.sub("", each) for each in of_it):
                numbers = tuple(number & ~CAPITAL for part in reader.read(name) for number in part)
                if numbers and (len(numbers) > 1 or len(name.strip()) >= SHORTEST):
                    self._named.setdefault(numbers, document)
                    if len(numbers) not in self._lengths[numbers[0]]:
                        self._lengths[numbers[0]].append(len(numbers))
        for lengths in self._lengths.values():
            lengths.sort(reverse=True)
        self._found: dict[Citation, tuple[int, ...]] = {}

    def read(self, passage: int, document: int, parts: Iterable[Sequence[int]]) -> None:
        """Look for the names of other documents in the terms of a passage; the longest count."""
        for part in parts:
            at = 0
            while at < len(part):
                at += self._cited(passage, document, part, at)

    def linked(self, passage: int, document: int) -> None:
        """Note that a passage links to another document."""
        self._found[Citation(passage, document)] = ()

    def citations(self, weights: Any) -> list[Citation]:
        """Return who cites whom, documents that few cite first; weights: of each term.

        A name is one only where one of its words is.
        """
        found = [
            citation
            for citation, name in self._found.items()
            if not name or max(weights[number] for number in name) >= UNCASED
        ]
        n_citing = Counter(citation.document for citation in found)
        return sorted(found, key=lambda each: (n_citing[each.document], each))

    def _cited(self, passage: int, document: int, part: Sequence[int], at: int) -> int:
        """Note the longest name at a place; return how many terms to go on."""
        for length in self._lengths.get(part[at], ()):
            numbers = tuple(part[at : at + length])
            named = self._named.get(numbers)
            if named is not None:
                if named != document:
                    self._found.setdefault(Citation(passage, named), numbers)
                return length
        return 1


# Passages under one heading that are farther apart than this are not drawn together.
WINDOW = 12
# What a document's connections count each time after it has been shown.
TIRED = 0.75
# How many documents may be connected, in the smallest corpus too.
LEAST_TOGETHER = 3


@dataclass(frozen=True)
class Surveyed:
    """What is known of passages, by number in the order of documents.

    documents: the number of each one's document. trees: what those under one heading share.
    same: the group of near duplicates of each, by its least member.
    """

    documents: Sequence[int]
    trees: Sequence[int]
    same: Sequence[int]
    connections: Sequence[Connection]
    citations: Sequence[Citation]

    @property
    def n_documents(self) -> int:
        """Return how many documents there are."""
        return self.documents[-1] + 1 if self.documents else 0


class Drawn(NamedTuple):
    """A set of passages, the rule that drew it, and the group of documents that it is of."""

    rule: str
    passages: tuple[int, ...]
    group: int


class Drawing(NamedTuple):
    """All sets in the order drawn, and how many passages no set has, whatever is asked for.

    n_doubles: nearly the same as one that can be drawn. n_common: what too many documents have, so
    that these would all be in one split. n_between: what documents of two splits have. groups: the
    group of each document.
    """

    sets: list[Drawn]
    n_doubles: int
    n_common: int
    n_between: int
    groups: list[int]


class _Proposal(NamedTuple):
    """Passages that a rule would draw, the strongest first; `third` may come to them."""

    passages: tuple[int, ...]
    third: int | None = None
    strength: float = 1.0


class _Drawing:
    """One drawing under way: what is used, and which documents are together."""

    def __init__(
        self,
        surveyed: Surveyed,
        table: PassageSetsTable,
        rng: random.Random,
        splits: Sequence[str],
    ) -> None:
        self._surveyed, self._table, self._rng = surveyed, table, rng
        self._together = Groups(surveyed.n_documents)
        # By the group of documents that have one.
        self._splits = {number: split for number, split in enumerate(splits) if split}
        self._used: set[int] = set()
        self._n_of: Counter[int] = Counter()
        self._most = max(LEAST_TOGETHER, int(table.max_share_together * surveyed.n_documents))
        self._n_doubles = self._n_common = self._n_between = 0
        self._leave_out_boilerplate()
        strongest = surveyed.connections[: surveyed.n_documents]
        self._wanted = {passage for each in strongest for passage in (each.first, each.second)}
        self._wanted |= {each.passage for each in surveyed.citations}
        passages = list(range(len(self._surveyed.documents)))
        self._rng.shuffle(passages)
        passages.sort(key=self._wanted.__contains__)
        found = []
        for window in self._windows():
            self._rng.shuffle(window)
            for at in range(0, len(window) - 1, 2):
                first, second = sorted(window[at : at + 2])
                if self._surveyed.same[first] != self._surveyed.same[second]:
                    third = window[at + 2] if at + 2 < len(window) else None
                    found.append(_Proposal((first, second), third))
        self._rng.shuffle(found)
        found.sort(key=lambda each: not self._wanted.isdisjoint(each.passages))
        proposed = {
            SINGLE: [_Proposal((passage,)) for passage in passages],
            SHARED_TERMS: [
                _Proposal((each.first, each.second), each.third, each.strength)
                for each in self._surveyed.connections
            ],
            CITATION: self._cited(),
            SECTION: found,
        }
        self._proposed = {rule: proposed[rule] for rule in RULES}
        # In order already: the heaps' first is the strongest.
        self._heaps = {
            rule: [(-one.strength, at) for at, one in enumerate(each)]
            for rule, each in self._proposed.items()
        }
        self._shown: dict[str, Counter[int]] = {rule: Counter() for rule in RULES}

    def draw_all(self) -> Drawing:
        """Return all sets in the order drawn."""
        found: list[tuple[str, tuple[int, ...]]] = []
        shares = {rule: getattr(self._table.shares, rule) for rule in RULES}
        while any(shares.values()):
            (rule,) = self._rng.choices(list(shares), list(shares.values()))
            passages = self._next(rule)
            if passages is None:
                shares[rule] = 0.0
            else:
                found.append((rule, passages))
        sets = [
            Drawn(rule, some, self._together.of(self._surveyed.documents[some[0]]))
            for rule, some in found
        ]
        groups = [self._together.of(one) for one in range(self._surveyed.n_documents)]
        return Drawing(sets, self._n_doubles, self._n_common, self._n_between, groups)

    def _next(self, rule: str) -> tuple[int, ...] | None:
        """Return the next set of a rule, what it has shown before counting less."""
        heap, shown = self._heaps[rule], self._shown[rule]
        while heap:
            priority, at = heapq.heappop(heap)
            proposal = self._proposed[rule][at]
            if not self._fits(proposal.passages):
                continue
            of = self._documents(proposal.passages)
            now = -proposal.strength * TIRED ** max(shown[document] for document in of)
            if now > priority:
                heapq.heappush(heap, (now, at))
                continue
            if not self._unite(proposal.passages):
                continue
            passages = self._with_third(proposal)
            self._used.update(passages)
            documents = self._documents(passages)
            self._n_of.update(documents)
            shown.update(documents)
            return passages
        return None

    def _with_third(self, proposal: _Proposal) -> tuple[int, ...]:
        third = proposal.third
        if third is None or self._rng.random() >= self._table.three_share:
            return proposal.passages
        if third in self._wanted:
            return proposal.passages
        three = (*proposal.passages, third)
        alike = len({self._surveyed.same[each] for each in three}) < len(three)
        if alike or not self._fits(three) or not self._unite(three):
            return proposal.passages
        return tuple(sorted(three))

    def _fits(self, passages: Sequence[int]) -> bool:
        if any(passage in self._used for passage in passages):
            return False
        most = self._table.max_per_document
        return all(self._n_of[document] < most for document in self._documents(passages))

    def _unite(self, passages: Sequence[int]) -> bool:
        """Put the documents of passages together; return False for too many, or of two splits."""
        first, *others = self._documents(passages)
        groups = {self._together.of(document): self._together.size(document) for document in others}
        groups[self._together.of(first)] = self._together.size(first)
        if len(groups) > 1 and sum(groups.values()) > self._most:
            return False
        return self._unite_documents([first, *others])

    def _unite_documents(self, documents: Sequence[int]) -> bool:
        """Put documents together, unless that would join two splits; return whether it was done."""
        groups = {self._together.of(document) for document in documents}
        splits = {self._splits[group] for group in groups if group in self._splits}
        if len(splits) > 1:
            return False
        for document in documents[1:]:
            self._together.unite(documents[0], document)
        if splits:
            (self._splits[self._together.of(documents[0])],) = splits
        return True

    def _documents(self, passages: Sequence[int]) -> list[int]:
        return list(dict.fromkeys(self._surveyed.documents[passage] for passage in passages))

    def _leave_out_boilerplate(self) -> None:
        """Put documents together that have a passage in common; what very many have is not drawn.

        Of passages that are nearly the same one alone is drawn.
        """
        members: dict[int, list[int]] = defaultdict(list)
        for passage, group in enumerate(self._surveyed.same):
            if group != passage:
                members[group].append(passage)
        for group, others in members.items():
            documents = self._documents([group, *others])
            self._used.update(others)
            if len(documents) > self._most:
                self._used.add(group)
                self._n_common += 1 + len(others)
                continue
            if self._unite_documents(documents):
                self._n_doubles += len(others)
            else:
                self._used.add(group)
                self._n_between += 1 + len(others)

    def _cited(self) -> list[_Proposal]:
        """Return who cites with the passage of the cited document that has most in common with it.

        Where none has anything, the first one that can be drawn.
        """
        of, cited = self._surveyed.documents, set(self._surveyed.citations)
        best: dict[Citation, int] = {}
        for each in self._surveyed.connections:
            for one, other in ((each.first, each.second), (each.second, each.first)):
                citation = Citation(one, of[other])
                if citation in cited:
                    best.setdefault(citation, other)
        firsts: dict[int, int] = {}
        for passage, document in enumerate(of):
            if passage not in self._used:
                firsts.setdefault(document, passage)
        found = (
            (each.passage, best.get(each, firsts.get(each.document)))
            for each in self._surveyed.citations
        )
        same = self._surveyed.same
        return [
            _Proposal((min(one, other), max(one, other)))
            for one, other in found
            if other is not None and same[one] != same[other]
        ]

    def _windows(self) -> Iterator[list[int]]:
        trees: dict[int, list[int]] = defaultdict(list)
        for passage, tree in enumerate(self._surveyed.trees):
            if passage not in self._used:
                trees[tree].append(passage)
        for passages in trees.values():
            for start in range(0, len(passages), WINDOW):
                yield passages[start : start + WINDOW]


def draw(
    surveyed: Surveyed,
    table: PassageSetsTable,
    rng: random.Random,
    splits: Sequence[str] = (),
) -> Drawing:
    """Return all the sets that can be drawn, in the order drawn; no passage is in two of them.

    splits: of each document, blank where it has none yet; nothing joins two.
    """
    return _Drawing(surveyed, table, rng, splits).draw_all()
