"""Who confuses what with what: each pair of annotators."""

from collections.abc import Hashable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from annotation.agreement.votes import NONE, Votes


@dataclass(frozen=True)
class Confusion:
    """How often one annotator gave a label where another gave one, on the items both have.

    table: int[n_labels, n_labels], rows the first annotator's label, columns the second's.
    """

    first: Hashable
    second: Hashable
    table: Any

    @property
    def n_items(self) -> int:
        """Return how many items both have labelled."""
        return int(self.table.sum())

    @property
    def n_equal(self) -> int:
        """Return on how many of them they say the same."""
        return int(self.table.trace())

    def cohen_kappa(self) -> float:
        """Return Cohen's kappa; raises ValueError where it is not defined."""
        if not self.n_items:
            raise ValueError("Cohen's kappa needs an item that both have labelled.")
        shares = self.table / self.n_items
        expected = float(shares.sum(axis=0) @ shares.sum(axis=1))
        if expected == 1.0:
            raise ValueError("Cohen's kappa is not defined where every vote is the same label.")
        return (self.n_equal / self.n_items - expected) / (1 - expected)


def pair_confusions(votes: Votes) -> list[Confusion]:
    """Return the confusion of each pair of annotators who share an item, in the table's order."""
    found = (
        Confusion(votes.annotators[one], votes.annotators[other], _counted(votes, one, other))
        for one, other in combinations(range(len(votes.annotators)), 2)
    )
    return [each for each in found if each.n_items]


def _counted(votes: Votes, one: int, other: int) -> Any:
    import numpy

    both = (votes.codes[:, one] != NONE) & (votes.codes[:, other] != NONE)
    table = numpy.zeros((len(votes.labels), len(votes.labels)), dtype=int)
    numpy.add.at(table, (votes.codes[both, one], votes.codes[both, other]), 1)
    return table
