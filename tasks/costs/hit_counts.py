"""How many HITs a stage can come to have at most, worked out before anybody has worked.

Pure: what the seeds of each fold, and the questions written about them, can make necessary.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil

from collector.protocols.parameters import StageTable
from tasks.work.kinds.registry import kind_of


@dataclass(frozen=True)
class QuestionsToCome:
    """The questions a stage can bring at most: `total` of them, `by_fold` of each fold.

    A writer may put all questions of a HIT about a paragraph of any fold that it shows, so the
    folds can add up to more than the total. dialogs: by fold, where the questions are of dialogs.
    """

    total: int = 0
    by_fold: tuple[tuple[str, int], ...] = ()
    dialogs: tuple[tuple[str, int], ...] = ()

    def places_of(self, table: StageTable) -> int:
        """Return the HITs that a stage needs at most which takes these questions up."""
        if self.dialogs:
            # A finished dialog is a bundle of its own, however long it was.
            return table.redundancy.places(by_redundancy(dict(self.dialogs), table))
        if table.sample_questions:
            sampled = sum(n for fold, n in self.by_fold if not fold or fold in table.sample_splits)
            drawn = min(table.sample_questions, sampled, self.total)
            return places_of_sample(drawn, table)
        return self._bundled(table)

    def _bundled(self, table: StageTable) -> int:
        """Return the HITs of bundles of one redundancy each, where folds come as dear as can be."""
        most: Counter[int] = Counter()
        for fold, number in self.by_fold:
            most[table.redundancy.of(fold)] += number
        size = table.items_per_hit
        dearest = _dearest(sorted(most.items(), reverse=True), self.total, size)
        # As many HITs as can be, all where the drawn share adds most.
        hits = ceil(self.total / size) + len(most)
        share = {min(filter(None, most), default=0): hits}
        return dearest + table.redundancy.places(share) - sum(n * each for each, n in share.items())


def _dearest(groups: list[tuple[int, int]], total: int, size: int) -> int:
    """Return the most HITs that so many questions can need, by redundancy, the largest first.

    groups: (redundancy, questions at most). A question that is left alone needs whole HITs: so
    not all are put where most answers are wanted, but of each group at most two bundles less.
    """
    if not groups:
        return 0
    (redundancy, most), *rest = groups
    most = min(most, total)
    least = max(0, most - 2 * size * len(rest)) if rest else most
    return max(
        redundancy * ceil(number / size) + _dearest(rest, total - number, size)
        for number in range(least, most + 1)
    )


def of_seeds(seeds: Counter[str], table: StageTable, places: int) -> QuestionsToCome:
    """Return the questions that can be written in so many HITs of a stage about these seeds."""
    kind = kind_of(table)
    free, skips = kind.questions_per_hit(table), max(1, kind.skips(table).per_item)
    by_fold = {}
    for fold, number in seeds.items():
        writers = number * table.redundancy.most_of(fold)
        if free:
            by_fold[fold] = free * min(places, writers)
        else:
            # A pair that one of several writers skipped is given to as many again.
            by_fold[fold] = writers * (skips if table.redundancy.most_of(fold) > 1 else 1)
    total = places * free if free else sum(by_fold.values())
    return QuestionsToCome(total, tuple(by_fold.items()))


def places_of_seeds(seeds: Counter[str], table: StageTable) -> int:
    """Return the HITs that seeds in no bundle yet need, bundled by their redundancy."""
    groups = by_redundancy(seeds, table)
    hits = {redundancy: ceil(n / table.items_per_hit) for redundancy, n in groups.items()}
    return table.redundancy.places(hits)


def places_of_sample(drawn: int, table: StageTable) -> int:
    """Return the HITs that so many decided questions need, drawn for the stage at once."""
    return table.redundancy.places({table.redundancy.of("test"): ceil(drawn / table.items_per_hit)})


def by_redundancy(by_fold: Mapping[str, int], table: StageTable) -> Counter[int]:
    """Return how many there are by how many people usually do one, of numbers by fold."""
    groups: Counter[int] = Counter()
    for fold, number in by_fold.items():
        groups[table.redundancy.of(fold)] += number
    return groups


def places_of_skipped(seeds: Counter[str], table: StageTable) -> int:
    """Return the HITs that are needed beside where as much is skipped as may be.

    Whole bundles of skipped seeds are handed out at once, a smaller one each time all else is
    done; everybody who is handed one may skip again, until a seed has been given often enough.
    """
    skips = kind_of(table).skips(table)
    most = skips.per_item
    if most < 2 or not seeds:
        return 0
    size, again = table.items_per_hit, 0
    redundancies = {table.redundancy.most_of(fold) for fold in seeds}
    skipped, bundles = seeds.total(), places_of_seeds(seeds, table)
    for _ in range(most - 1):
        skipped = min(skipped, bundles * skips.per_hit)
        again += skipped
        bundles = (skipped // size + len(redundancies)) * max(redundancies)
    return (again // size + (most - 1) * len(redundancies)) * max(redundancies)
