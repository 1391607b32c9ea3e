"""How well people and systems do, by turn and by group (QuAC 5.2, 6)."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from annotation.protocols.quac.chunks import GROUPS, TITLES, Chunks, Group
from annotation.protocols.quac.file_format import AFFIRMATION
from annotation.protocols.quac.scoring import Gold, Prediction, Score, score_all, totals
from annotation.protocols.quac.turns import Turn, agreement, human_f1, majority, person_f1
from annotation.tables.table import Cell, Table, share
from collector.protocols.parameters import FOLDS

ALL = "all"
NOBODY = (
    "No question has been answered by validators yet, where simulated ones do not count: publish "
    "the stage validation."
)
# A tie falls as it does where a release's votes are read, which hold words.
WORDS = {letter: word for word, letter in AFFIRMATION.items()}


@dataclass
class Scores:
    """Sums of F1 over questions: of everybody, of the teachers, of the validators."""

    questions: int = 0
    human: float = 0.0
    teachers: float = 0.0
    validators: float = 0.0

    def add(self, human: float, teacher: float, validators: Sequence[float]) -> None:
        """Add one question."""
        self.questions += 1
        self.human += human
        self.teachers += teacher
        self.validators += sum(validators) / len(validators)


@dataclass
class FoldSums:
    """What is added up for the validated questions of a fold; `scored`: with human F1 enough."""

    whole: Scores = field(default_factory=Scores)
    scored: Scores = field(default_factory=Scores)
    pairs: int = 0
    equal_pairs: int = 0
    labelled: int = 0
    agreement: float = 0.0

    def add_labels(self, qid: str, labels: Sequence[str]) -> None:
        """Add what several people said of yes and no."""
        pairs = list(combinations(labels, 2))
        self.pairs += len(pairs)
        self.equal_pairs += sum(one == other for one, other in pairs)
        if pairs:
            self.labelled += 1
            self.agreement += agreement(qid, labels)


class People:
    """Compares everybody's answers to the questions that validators answered too."""

    def __init__(self, min_f1: float) -> None:
        self.min_f1 = min_f1
        self.sums = {fold: FoldSums() for fold in (*FOLDS, ALL)}

    def add(self, turn: Turn) -> None:
        """Count one question, if people alone made it and one but the teacher answered it."""
        if turn.synthetic or not turn.validators:
            return
        human = human_f1(turn.references)
        texts = [each.text for each in (turn.teacher, *turn.validators)]
        teacher, *validators = (person_f1(at, texts) for at in range(len(texts)))
        labels = [WORDS[label] for label in labels_of(turn)]
        for fold in (turn.fold, ALL):
            if fold not in self.sums:
                continue
            sums = self.sums[fold]
            sums.whole.add(human, teacher, validators)
            if human >= self.min_f1:
                sums.scored.add(human, teacher, validators)
                sums.add_labels(turn.qid, labels)

    def tables(self) -> list[Table]:
        """Return the agreement, a column for each fold that has validated questions."""
        shown = {fold: sums for fold, sums in self.sums.items() if sums.whole.questions}
        measures = {
            "questions validated": lambda sums: sums.whole.questions,
            "% left out of the scores": lambda sums: percent(
                sums.whole.questions - sums.scored.questions, sums.whole.questions
            ),
            **_measures("", lambda sums: sums.scored),
            **_measures(", low agreement too", lambda sums: sums.whole),
            "% of pairs equal on yes or no": lambda sums: percent(sums.equal_pairs, sums.pairs),
            "% of people with the others' majority on yes or no": lambda sums: percent(
                sums.agreement, sums.labelled
            ),
        }
        rows: list[list[Cell]] = [
            [name, *(of(sums) for sums in shown.values())] for name, of in measures.items() if shown
        ]
        note = (
            f"Left out: questions on which people's F1 is below {100 * self.min_f1:g}, 10 per cent "
            "in the paper, where human F1 on the others is 80.8. Everybody's answer is compared "
            "with the others'; teachers and validators differ by less than 1 in the paper."
            if shown
            else NOBODY
        )
        columns = ["measure", *shown]
        return [Table("people", "How far people agree", columns, rows, note, of_people=True)]


def _measures(
    suffix: str, of: Callable[[FoldSums], Scores]
) -> dict[str, Callable[[FoldSums], Any]]:
    """Return the rows of people as a whole, of teachers and of validators."""
    return {
        f"human F1 %{suffix}": lambda sums: _mean(of(sums).human, of(sums)),
        f"teachers' F1 %{suffix}": lambda sums: _mean(of(sums).teachers, of(sums)),
        f"validators' F1 %{suffix}": lambda sums: _mean(of(sums).validators, of(sums)),
    }


def labels_of(turn: Turn) -> list[str]:
    """Return everybody's label of yes, no or neither; official files have the teacher's alone."""
    return [each.affirmation for each in (turn.teacher, *turn.validators) if each.affirmation]


def majority_label(turn: Turn) -> str:
    """Return the question's commonest label; ties are broken at random, by its id (QuAC 4.1)."""
    labels = [WORDS[letter] for letter in labels_of(turn)]
    return AFFIRMATION[majority(labels, random.Random(turn.qid))] if labels else ""


def _mean(total: float, scores: Scores) -> float | None:
    return 100 * total / scores.questions if scores.questions else None


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


def percent(part: float, whole: int) -> float | None:
    """Return the share in per cent, None where there is no whole."""
    found = share(part, whole)
    return None if found is None else 100 * found
