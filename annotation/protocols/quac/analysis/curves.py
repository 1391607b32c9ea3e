"""F1 of people, and of a system beside them, by group (QuAC 6, Figure 7)."""

from collections.abc import Mapping
from dataclasses import dataclass

from annotation.protocols.quac.analysis.groups import GROUPS, TITLES, Group
from annotation.protocols.quac.analysis.people import NOBODY, majority_label
from annotation.protocols.quac.chunks import Chunks
from annotation.protocols.quac.scoring import Gold, Prediction, Score, score_all, totals
from annotation.protocols.quac.turns import Turn
from annotation.tables.table import Cell, Table

# The official script's keys in the paper's words.
NAMES = {
    "f1": "F1",
    "unfiltered_f1": "F1, low agreement too",
    "HEQ": "HEQ-Q",
    "DHEQ": "HEQ-D",
    "yes/no": "yes/no",
    "followup": "follow up",
    "unanswerable_acc": "no answer",
}


@dataclass
class Sums:
    """What is added up for the questions of a group that are scored."""

    questions: int = 0
    peoples: int = 0
    human: float = 0.0
    f1: float = 0.0
    equal: int = 0

    def add(self, score: Score, *, synthetic: bool) -> None:
        """Add one question; of a simulated one no person is scored."""
        self.questions += 1
        if not synthetic:
            self.peoples += 1
            self.human += score.human
        self.f1 += score.f1
        self.equal += score.equals_human


class HumanCurves:
    """Groups the questions that several people answered by how well these agree."""

    def __init__(self, min_f1: float, chunks: Chunks) -> None:
        self.min_f1, self.chunks = min_f1, chunks
        self.sums: dict[str, dict[tuple[int, str], Sums]] = {by: {} for by in GROUPS}

    def add(self, turn: Turn) -> None:
        """Count one question, if people alone made it and agree on it enough."""
        if turn.synthetic or not turn.validators:
            return
        score = scored(turn, Prediction(turn.teacher.text, "", ""), self.min_f1)
        if score.kept:
            add_to(self.sums, turn, score, self.chunks)

    def tables(self) -> list[Table]:
        """Return a table for each way of grouping; the columns of a system are left out."""
        return [
            Table(
                f"human_by_{by.replace('-', '_')}",
                f"People: {TITLES[by]}".replace(" and HEQ-Q", ""),
                [by.replace("-", " "), "questions", "human F1 %"],
                [_row(name, sums)[:3] for (_, name), sums in sorted(groups.items())],
                "" if groups else NOBODY,
                of_people=True,
            )
            for by, groups in self.sums.items()
        ]


class SystemCurves:
    """Scores predictions for every question of the folds that they are for."""

    def __init__(
        self, predictions: Mapping[str, Prediction], min_f1: float, chunks: Chunks
    ) -> None:
        self.predictions, self.min_f1, self.chunks = predictions, min_f1, chunks
        self.turns: dict[str, list[tuple[Turn, Score]]] = {}

    def add(self, turn: Turn) -> None:
        """Score one question."""
        given = self.predictions.get(turn.qid)
        self.turns.setdefault(turn.fold, []).append((turn, scored(turn, given, self.min_f1)))

    def tables(self) -> list[Table]:
        """Return the official totals, the acts, and a table for each way of grouping."""
        folds = {
            fold: found
            for fold, found in self.turns.items()
            if not all(score.missing for _, score in found)
        }
        whole = [pair for found in folds.values() for pair in found]
        sums: dict[str, dict[tuple[int, str], Sums]] = {by: {} for by in GROUPS}
        for turn, score in whole:
            if score.kept:
                add_to(sums, turn, score, self.chunks)
        columns = ["questions", "human F1 %", "F1 %", "HEQ-Q %"]
        return [
            self._totals(whole, list(folds)),
            *(
                Table(
                    f"by_{by.replace('-', '_')}",
                    TITLES[by],
                    [by.replace("-", " "), *columns],
                    [_row(name, group) for (_, name), group in sorted(groups.items())],
                )
                for by, groups in sums.items()
            ),
        ]

    def _totals(self, whole: list[tuple[Turn, Score]], folds: list[str]) -> Table:
        """Return the official keys, and beside them yes/no against the majority's label."""
        official = totals([score for _, score in whole])
        rows: list[list[Cell]] = [
            [shown, official[key]] for key, shown in NAMES.items() if key in official
        ]
        kept = [turn for turn, score in whole if score.kept and not turn.synthetic]
        if kept:
            right = sum(
                turn.qid in self.predictions
                and self.predictions[turn.qid].yesno == majority_label(turn)
                for turn in kept
            )
            rows.append(["yes/no by majority", 100 * right / len(kept)])
        n_missing = sum(score.missing for _, score in whole)
        note = (
            f"{len(whole):,} questions of {', '.join(folds)}; {n_missing:,} without a prediction "
            "count as wrong."
            if whole
            else "None of the predictions is for a question of this collection: their ids must be "
            "those of its release."
        )
        return Table("scores", "Scores of the predictions", ["measure", "percent"], rows, note)


def scored(turn: Turn, given: Prediction | None, min_f1: float) -> Score:
    """Return how a prediction does on one question, by the official rules."""
    acts = (turn.teacher.affirmation, turn.continuation)
    gold = Gold(turn.qid, turn.dialog, tuple(turn.references), *acts)
    return next(score_all([gold], {} if given is None else {turn.qid: given}, min_f1))


def add_to(
    sums: dict[str, dict[tuple[int, str], Sums]], turn: Turn, score: Score, chunks: Chunks
) -> None:
    """Add a question to its group in each way of grouping."""
    for by, group_of in GROUPS.items():
        group: Group = group_of(turn, chunks)
        if group is not None:
            sums[by].setdefault(group, Sums()).add(score, synthetic=turn.synthetic)


def _row(name: str, sums: Sums) -> list[Cell]:
    human = 100 * sums.human / sums.peoples if sums.peoples else None
    system = (100 * part / sums.questions for part in (sums.f1, sums.equal))
    return [name, sums.questions, human, *system]
