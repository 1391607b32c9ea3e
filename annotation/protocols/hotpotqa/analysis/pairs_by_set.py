"""Which pairs were asked about and which were skipped, by the set they were drawn from."""

from annotation.records.schema import SeedRecord, is_kept
from annotation.tables.table import Cell, Table, share

# Ours: a collection may draw from hundreds of sets; those that are skipped most come first.
MOST_SETS = 25


class PairsBySet:
    """Counts pairs that were handed in, by set."""

    def __init__(self) -> None:
        self.by_set: dict[tuple[str, str], list[int]] = {}

    def add(self, seed: SeedRecord) -> None:
        """Count one pair, if anybody wrote about it or skipped it."""
        skips, kept = seed.get("skips", 0), sum(is_kept(each) for each in seed["questions"])
        if not skips and not seed["questions"]:
            return
        payload = seed["payload"]
        counts = self.by_set.setdefault((payload.get("type", ""), payload.get("set", "")), [0] * 4)
        for at, number in enumerate((1, skips, len(seed["questions"]), kept)):
            counts[at] += number

    def tables(self) -> list[Table]:
        """Return the pairs by set; nothing where no pair tells its set, as in published files."""
        named = {key: counts for key, counts in self.by_set.items() if key[1]}
        if not named:
            return []
        ordered = sorted(
            named.items(), key=lambda item: (-_share_skipped(item[1]), -item[1][0], item[0])
        )
        rows: list[list[Cell]] = [
            [name, kind, *counts, _share_skipped(counts)]
            for (kind, name), counts in ordered[:MOST_SETS]
        ]
        left = len(ordered) - len(rows)
        note = "Drop a set whose pairs are skipped often." + (
            f" {left} more sets are skipped less." if left else ""
        )
        columns = ["set", "type", "pairs", "skips", "questions", "kept", "skipped share"]
        return [Table("pairs", "Pairs by the set they are of (A.2)", columns, rows, note)]


def _share_skipped(counts: list[int]) -> float:
    """Return how many of the hands that had a pair of the set skipped it."""
    _, skips, questions, _ = counts
    return share(skips, skips + questions) or 0.0
