"""How well retrieval over a whole corpus finds what answers (HotpotQA 5.2, T5; C, T9)."""

from annotation.metrics.summation import plain_sum
from annotation.protocols.hotpotqa.analysis.examples import Example
from annotation.protocols.hotpotqa.compared import COMPARED, compared
from annotation.release.shape import RanksRecord
from annotation.reports.table import Cell, Table

COLUMNS = ("set", "questions", "MAP %", "mean rank", "Hits@2 %", "Hits@10 %", "CorAns rank")
PAPER = (
    "In the paper dev has MAP 43.93, mean rank 314.71, Hits 39.43 and 56.06 (Table 5), and CorAns "
    "rank 97.93 in a sample (Table 9). A paragraph that was not found has the rank after the last "
    "one found; CorAns leaves out yes and no."
)


class Ranks:
    """Collects the ranks of gold paragraphs by split; of COMPARED, of so many examples alone."""

    def __init__(self, n_compared: int) -> None:
        self.n_compared = n_compared
        self.by_split: dict[str, list[RanksRecord]] = {}
        self.compared: dict[str, RanksRecord | None] = {}

    def add(self, example: Example) -> None:
        """Count one example, if its paragraphs were searched for."""
        ranks = example.ranks if example.ranks is not None and example.ranks["gold"] else None
        if example.split == COMPARED:
            self.compared[example.key] = ranks
        elif ranks is not None:
            self.by_split.setdefault(example.split, []).append(ranks)

    def tables(self) -> list[Table]:
        """Return Tables 5 and 9 in one, a row for each split that was searched for."""
        sample = [self.compared[key] for key in compared(self.compared, self.n_compared)]
        found = {**self.by_split, COMPARED: [ranks for ranks in sample if ranks is not None]}
        rows = [_row(split, ranks) for split, ranks in sorted(found.items()) if ranks]
        note = PAPER if rows else "No contexts were searched for in the whole corpus yet."
        title = "Retrieval in the full wiki setting (Tables 5 and 9)"
        return [Table("retrieval", title, COLUMNS, rows, note)]


def average_precision(gold: list[int]) -> float:
    """Return the mean of the precision at each gold rank."""
    return plain_sum(n / rank for n, rank in enumerate(sorted(gold), 1)) / len(gold)


def hits(gold: list[int], within: int) -> float:
    """Return the share of gold ranks among the first `within`."""
    return sum(rank <= within for rank in gold) / len(gold)


def _row(split: str, found: list[RanksRecord]) -> list[Cell]:
    gold = [ranks["gold"] for ranks in found]
    answers = [float(ranks["answer"]) for ranks in found if ranks["answer"] is not None]
    return [
        split or "not split yet",
        len(found),
        100 * _mean([average_precision(ranks) for ranks in gold]),
        _mean([_mean([float(rank) for rank in ranks]) for ranks in gold]),
        100 * _mean([hits(ranks, 2) for ranks in gold]),
        100 * _mean([hits(ranks, 10) for ranks in gold]),
        _mean(answers) if answers else None,
    ]


def _mean(values: list[float]) -> float:
    return plain_sum(values) / len(values)
