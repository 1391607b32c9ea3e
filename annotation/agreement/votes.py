"""Votes as a table of items by annotators, and how often each pair of annotators differs."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

NONE = -1


@dataclass(frozen=True)
class Votes:
    """Who gave which label to which item; an annotator has at most one vote on an item.

    codes: numpy int[n_items, n_annotators], the index of the label in `labels`, NONE if missing.
    """

    items: tuple[Hashable, ...]
    annotators: tuple[Hashable, ...]
    labels: tuple[Hashable, ...]
    codes: Any

    def counts(self) -> Any:
        """Return numpy int[n_items, n_labels]: how many annotators gave the item the label."""
        import numpy

        places = numpy.arange(len(self.labels))
        return (self.codes[:, :, None] == places).sum(axis=1)

    def several(self, least: int = 2) -> "Votes":
        """Return the table of the items with `least` votes or more, and of their annotators."""
        given = self.codes != NONE
        chosen = given.sum(axis=1) >= least
        voted = given[chosen].any(axis=0)
        items = tuple(item for item, has in zip(self.items, chosen, strict=True) if has)
        who = tuple(each for each, has in zip(self.annotators, voted, strict=True) if has)
        return Votes(items, who, self.labels, self.codes[chosen][:, voted])


def votes_of(
    cast: Iterable[tuple[Hashable, Hashable, Hashable]], labels: Sequence[Hashable] = ()
) -> Votes:
    """Return the table of votes; `cast` yields (item, annotator, label).

    Items, annotators and labels are in the order in which they first appear. labels: these come
    before the others, in this order, even if nobody gave them. Raises ValueError if an annotator
    votes twice on one item.
    """
    import numpy

    items: dict[Hashable, int] = {}
    annotators: dict[Hashable, int] = {}
    places = {label: place for place, label in enumerate(labels)}
    cells: dict[tuple[int, int], int] = {}
    for item, annotator, label in cast:
        cell = (
            items.setdefault(item, len(items)),
            annotators.setdefault(annotator, len(annotators)),
        )
        if cell in cells:
            raise ValueError(f"{annotator} has two votes on {item}: give one.")
        cells[cell] = places.setdefault(label, len(places))
    codes = numpy.full((len(items), len(annotators)), NONE)
    for cell, place in cells.items():
        codes[cell] = place
    return Votes(tuple(items), tuple(annotators), tuple(places), codes)


@dataclass(frozen=True)
class Confusion:
    """How often two annotators gave each pair of labels, on the items that both labelled.

    table: int[n_labels, n_labels], rows the first annotator's label, columns the second's.
    """

    first: Hashable
    second: Hashable
    table: Any

    @property
    def n_items(self) -> int:
        """Return the number of items that both labelled."""
        return int(self.table.sum())

    @property
    def n_equal(self) -> int:
        """Return the number of items to which both gave the same label."""
        return int(self.table.trace())

    def cohen_kappa(self) -> float:
        """Return Cohen's kappa; raises ValueError if it is not defined."""
        if not self.n_items:
            raise ValueError("Cohen's kappa needs an item that both have labelled.")
        shares = self.table / self.n_items
        expected = float(shares.sum(axis=0) @ shares.sum(axis=1))
        if expected == 1.0:
            raise ValueError("Cohen's kappa is not defined where every vote is the same label.")
        return (self.n_equal / self.n_items - expected) / (1 - expected)


def pair_confusions(votes: Votes) -> list[Confusion]:
    """Return the confusion of each pair of annotators who share an item, in the table's order."""
    import numpy

    found = []
    for one, other in combinations(range(len(votes.annotators)), 2):
        both = (votes.codes[:, one] != NONE) & (votes.codes[:, other] != NONE)
        if both.any():
            table = numpy.zeros((len(votes.labels), len(votes.labels)), dtype=int)
            numpy.add.at(table, (votes.codes[both, one], votes.codes[both, other]), 1)
            found.append(Confusion(votes.annotators[one], votes.annotators[other], table))
    return found
