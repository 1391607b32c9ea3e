"""Table 2: how much of the answers each ranker's first passages hold, and how sure that is."""

from collections.abc import Sequence
from typing import Any

from annotation.metrics.generated_text import paired_bootstrap
from annotation.protocols.bookqa.decomposition import NOTE
from annotation.protocols.bookqa.decomposition import PAPER as BY_LABEL
from annotation.protocols.bookqa.parameters import RankingTable
from annotation.protocols.bookqa.question_labels import Labels, called, label_groups
from annotation.protocols.bookqa.ranking.rankings import (
    BM25,
    ORACLE,
    UPPERBOUND,
    Ranked,
    covered,
)
from annotation.tables.table import Cell, Table

# The paper's own figures on the dev set: presence and ROUGE-L in per cent, by how many passages
# (5.2, Table 2 and the paragraph below it).
PAPER = {
    (BM25, 3): (15.75, 43.44),
    (BM25, 5): (18.99, 47.48),
    (BM25, 10): (24.08, 53.55),
    (UPPERBOUND, 32): (30.81, 61.40),
    (ORACLE, 5): (35.75, 63.92),
}
COLUMNS = (
    *("ranker", "passages", "EM share", "95 %", "p", "paper's EM"),
    *("ROUGE-L share", "95 %", "p", "paper's ROUGE-L"),
)
SEED = 0
# Of means: how many drawn sets of questions tell an interval, and how many are held at a time.
DRAWS, CHUNK = 2_000, 100
LOW, HIGH = 2.5, 97.5


class Coverage:
    """What each ranker's first passages hold, question by question."""

    def __init__(self, rankers: Sequence[str], at: Sequence[int]) -> None:
        """Begin with no question."""
        self.rankers, self.at = rankers, at
        self.questions: list[str] = []
        self._rows: dict[tuple[str, int], list[tuple[float, float]]] = {
            (ranker, most): [] for ranker in rankers for most in at
        }

    def add(self, one: Ranked) -> None:
        """Add one question."""
        self.questions.append(one.question.id)
        for key, held in covered(one, self.rankers, self.at).items():
            self._rows[key].append((float(held.is_there), held.rouge_l))

    def of(self, ranker: str, most: int) -> Any:
        """Return float[n_questions, 2]: presence and ROUGE-L."""
        import numpy

        return numpy.array(self._rows[ranker, most])


def table_of(coverage: Coverage, numbers: RankingTable) -> Table:
    """Return the table: shares with intervals of 95 %, p of being no better than BM25."""
    rows = []
    for most in coverage.at:
        for ranker in coverage.rankers:
            if ranker != UPPERBOUND:
                rows.append([ranker, most, *_cells(coverage, ranker, most, numbers)])
    # It takes all passages, however many the others take: it is held against most of them.
    most = max(coverage.at)
    rows.append([UPPERBOUND, numbers.depth, *_cells(coverage, UPPERBOUND, most, numbers)])
    n_questions = len(coverage.of(BM25, most))
    size = min(numbers.bootstrap_size, n_questions)
    return Table(
        "rankers",
        f"Answers in the first passages, of {n_questions:,} questions (Table 2 of the paper)",
        COLUMNS,
        rows,
        note=(
            f"All but the oracle choose from BM25's first {numbers.depth} passages. p: the share "
            f"of {numbers.bootstrap_subsets:,} subsets of {size:,} questions, drawn with "
            "replacement, in which a ranker is not better than BM25. The paper's figures are of "
            "its dev set."
        ),
    )


def table_by_label(
    coverage: Coverage, numbers: RankingTable, labels: Labels, n_simulated: int = 0
) -> Table:
    """Return ROUGE-L of each ranker's first passages by label (the last column of T5 and T6).

    After `selection_at` passages, or the nearest number that is measured. n_simulated: of how many
    questions the labels are simulated, which its head says.
    """
    most = min(coverage.at, key=lambda number: abs(number - numbers.selection_at))
    values = {ranker: coverage.of(ranker, most)[:, 1] for ranker in coverage.rankers}
    rows: list[list[Cell]] = [
        [
            called(*label),
            len(places),
            len(places) / whole,
            BY_LABEL[label].share,
            *(float(each[places].mean()) for each in values.values()),
            BY_LABEL[label].ranker,
        ]
        for label, places, whole in label_groups(labels, coverage.questions)
    ]
    return Table(
        "rankers_by_label",
        "Answers in the first passages by label (Tables 5 and 6 of the Book QA paper)",
        [
            *("label", "questions", "share", "paper's share"),
            *(f"{ranker}: ROUGE-L share" for ranker in values),
            "paper's BERT+ICT: ROUGE-L share",
        ],
        rows,
        f"After {most} passages, the upper bound after all it chooses from; the first share is of "
        f"the {len(labels):,} labelled questions. {NOTE}",
        simulated=f"With simulated labels: of {n_simulated:,} questions." if n_simulated else "",
    )


def _cells(coverage: Coverage, ranker: str, most: int, numbers: RankingTable) -> list[Cell]:
    values = coverage.of(ranker, most)
    p: Sequence[float | None] = [None, None]
    if ranker != BM25:
        p = better(values, coverage.of(BM25, most), numbers)
    paper = PAPER.get((ranker, numbers.depth if ranker == UPPERBOUND else most), (None, None))
    cells: list[Cell] = []
    for at, interval in enumerate(intervals(values)):
        cells += [float(values[:, at].mean()), interval, _p(p[at]), _percent(paper[at])]
    return cells


def better(one: Any, other: Any, numbers: RankingTable) -> list[float]:
    """Return p of `one` being no better than `other` in presence and in ROUGE-L."""
    return paired_bootstrap(
        one,
        other,
        lambda sums: sums,
        SEED,
        subsets=numbers.bootstrap_subsets,
        size=numbers.bootstrap_size,
    )


def intervals(values: Any) -> list[str]:
    """Return by column between which means 95 % of drawn sets of questions lie, in per cent."""
    import numpy

    rng = numpy.random.default_rng(SEED)
    number = len(values)
    means = []
    for _ in range(0, DRAWS, CHUNK):
        drawn = rng.multinomial(number, numpy.full(number, 1 / number), size=CHUNK)
        means.append(drawn @ values / number)
    low, high = numpy.percentile(numpy.concatenate(means), [LOW, HIGH], axis=0)
    return [f"{100 * a:.1f}–{100 * b:.1f}" for a, b in zip(low, high, strict=True)]


def _p(value: float | None) -> str | None:
    return None if value is None else f"{value:.4f}"


def _percent(value: float | None) -> str | None:
    return None if value is None else f"{value:.2f} %"
