"""How far teachers and validators agree, on answers and on yes or no (QuAC 2.2, 4.1, 5.2).

One rule scores everybody: each answer is held out in turn and compared with the others'. People
as a whole, teachers alone and validators alone are therefore figures of one kind (footnote 9).
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from annotation.protocols.quac.analysis.sizes import percent
from annotation.protocols.quac.file_format import AFFIRMATION
from annotation.protocols.quac.references import agreement, human_f1, majority, person_f1
from annotation.protocols.quac.turns import Turn
from annotation.tables.table import Cell, Table
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
class Sums:
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
        self.sums = {fold: Sums() for fold in (*FOLDS, ALL)}

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


def _measures(suffix: str, of: Callable[[Sums], Scores]) -> dict[str, Callable[[Sums], Any]]:
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
