"""Draws sets of passages by several rules, each by its share, and keeps apart what belongs apart.

The strongest connections come first, but each time that a document has been shown its connections
count less, so that others come in. What a set connects, and what is nearly the same, is one group
of documents: it is in one split.
"""

import heapq
import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from collector.retrieval.near_duplicates import Groups
from collector.seeds.passage_sets.citations import Citation
from collector.seeds.passage_sets.connections import Connection
from collector.seeds.passage_sets.rules import (
    CITATION,
    RULES,
    SECTION,
    SHARED_TERMS,
    SINGLE,
    PassageSetsTable,
)

# Passages under one heading that are farther apart than this are not drawn together.
WINDOW = 12
# What a document's connections count each time after it has been shown.
TIRED = 0.75
# Of however few documents so many may be connected.
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
        proposed = {
            SINGLE: self._singles(),
            SHARED_TERMS: self._connected(),
            CITATION: self._cited(),
            SECTION: self._sections(),
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
        sets = [Drawn(rule, some, self._group(some[0])) for rule, some in found]
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

    def _group(self, passage: int) -> int:
        return self._together.of(self._surveyed.documents[passage])

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

    def _singles(self) -> list[_Proposal]:
        """Return all passages, those last that are wanted for their connections."""
        passages = list(range(len(self._surveyed.documents)))
        self._rng.shuffle(passages)
        passages.sort(key=self._wanted.__contains__)
        return [_Proposal((passage,)) for passage in passages]

    def _connected(self) -> list[_Proposal]:
        return [
            _Proposal((each.first, each.second), each.third, each.strength)
            for each in self._surveyed.connections
        ]

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

    def _sections(self) -> list[_Proposal]:
        """Return neighbours under one heading, in twos with a third beside, in an order drawn."""
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
        return found

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
