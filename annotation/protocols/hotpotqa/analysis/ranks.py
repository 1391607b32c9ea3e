"""How well retrieval over a whole corpus finds what answers (HotpotQA 5.2, T5; C, T9)."""

from annotation.metrics.summation import plain_sum
from annotation.protocols.hotpotqa.analysis.examples import Example
from annotation.protocols.hotpotqa.contexts import COMPARED, compared
from annotation.records.schema import RanksRecord
from annotation.tables.table import Cell, Table

COLUMNS = ("set", "questions", "MAP %", "mean rank", "Hits@2 %", "Hits@10 %", "CorAns rank")
PAPER = "In the paper dev has MAP 43.93, mean rank 314.71, Hits 39.43 and 56.06. "
PAPER_SAMPLED = "In the paper CorAns rank is 82.76 in train-medium and 97.93 in dev. "
RANKS = (
    "A paragraph that was not found has the rank after the last one found; CorAns leaves out yes "
    "and no."
)
NONE_YET = "No contexts were searched for in the whole corpus yet; a release searches for them."


class Ranks:
    """Collects the ranks of gold paragraphs by split: of all, and of samples of one size."""

    def __init__(self, n_compared: int) -> None:
        self.n_compared = n_compared
        self.by_split: dict[str, dict[str, RanksRecord | None]] = {}

    def add(self, example: Example) -> None:
        """Count one example, if its paragraphs were searched for."""
        ranks = example.ranks if example.ranks is not None and example.ranks["gold"] else None
        # Of COMPARED a sample alone is searched for, whatever was before.
        if ranks is not None or example.split == COMPARED:
            self.by_split.setdefault(example.split, {})[example.key] = ranks

    def tables(self) -> list[Table]:
        """Return Table 5, of all that was searched for, and Table 9, of as many of each split."""
        whole = {
            split: list(ranks.values())
            for split, ranks in self.by_split.items()
            if split != COMPARED
        }
        sampled = {
            split: [ranks[key] for key in compared(ranks, self.n_compared)]
            for split, ranks in self.by_split.items()
        }
        size = f"{self.n_compared:,} questions of each split, or all there are. "
        return [
            _table("retrieval", "(Table 5 of the HotpotQA paper)", whole, PAPER),
            _table(
                "retrieval_compared",
                "by split (Table 9 of the HotpotQA paper)",
                sampled,
                size + PAPER_SAMPLED,
            ),
        ]


def average_precision(gold: list[int]) -> float:
    """Return the mean of the precision at each gold rank."""
    return plain_sum(n / rank for n, rank in enumerate(sorted(gold), 1)) / len(gold)


def hits(gold: list[int], within: int) -> float:
    """Return the share of gold ranks among the first `within`."""
    return sum(rank <= within for rank in gold) / len(gold)


def _table(name: str, which: str, found: dict[str, list[RanksRecord | None]], note: str) -> Table:
    searched = {split: [one for one in ranks if one] for split, ranks in found.items()}
    rows = [_row(split, ranks) for split, ranks in sorted(searched.items()) if ranks]
    title = f"Retrieval in the full wiki setting {which}"
    return Table(name, title, COLUMNS, rows, note + RANKS if rows else NONE_YET)


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
