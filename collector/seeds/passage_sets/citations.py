"""Finds passages that name another document, by its title or its id, or that link to it."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from collector.seeds.passage_sets.connections import CAPITAL, UNCASED, TermReader

# What a wiki's title says to tell it from another.
_APART = re.compile(r"\s*\([^()]*\)\s*$")
# A name of a single term has so many characters at least.
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
