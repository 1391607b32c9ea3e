"""How far teachers and validators agree, on answers and on yes or no (QuAC 2.2, 4.1, 5.2)."""

import random
from dataclasses import dataclass
from itertools import combinations

from annotation.protocols.quac.analysis.sizes import percent
from annotation.protocols.quac.layout import AFFIRMATION
from annotation.protocols.quac.majority import majority
from annotation.protocols.quac.references import counted, human_f1, system_f1
from annotation.protocols.quac.turns import Turn
from annotation.reports.table import Cell, Table
from collector.parameters import FOLDS

ALL = "all"
# A tie falls as it does where a release's votes are read, which hold words.
WORDS = {letter: word for word, letter in AFFIRMATION.items()}


@dataclass
class Sums:
    """What is added up for the validated questions of a fold."""

    questions: int = 0
    kept: int = 0
    human: float = 0.0
    human_kept: float = 0.0
    teacher: float = 0.0
    pairs: int = 0
    equal_pairs: int = 0
    labelled: int = 0
    with_majority: int = 0


class People:
    """Compares everybody's answers to the questions that validators answered too."""

    def __init__(self, min_f1: float) -> None:
        self.min_f1 = min_f1
        self.sums = {fold: Sums() for fold in (*FOLDS, ALL)}

    def add(self, turn: Turn) -> None:
        """Count one question, if somebody but the teacher answered it."""
        if not turn.validators:
            return
        human = human_f1(turn.references)
        against = system_f1(turn.teacher.text, counted([each.text for each in turn.validators]))
        labels = labels_of(turn)
        pairs = list(combinations(labels, 2))
        for fold in (turn.fold, ALL):
            if fold not in self.sums:
                continue
            sums = self.sums[fold]
            sums.questions += 1
            sums.human += human
            sums.teacher += against
            if human >= self.min_f1:
                sums.kept += 1
                sums.human_kept += human
            sums.pairs += len(pairs)
            sums.equal_pairs += sum(one == other for one, other in pairs)
            if pairs:
                sums.labelled += 1
                sums.with_majority += majority_label(turn) == turn.teacher.affirmation

    def tables(self) -> list[Table]:
        """Return the agreement, a column for each fold that has validated questions."""
        shown = {fold: sums for fold, sums in self.sums.items() if sums.questions}
        measures = {
            "questions validated": lambda sums: sums.questions,
            "human F1 %": lambda sums: _mean(sums.human, sums.questions),
            "human F1 %, questions scored": lambda sums: _mean(sums.human_kept, sums.kept),
            "% left out of the scores": lambda sums: percent(
                sums.questions - sums.kept, sums.questions
            ),
            "teachers' F1 % against validators": lambda sums: _mean(sums.teacher, sums.questions),
            "% of pairs equal on yes/no": lambda sums: percent(sums.equal_pairs, sums.pairs),
            "% of teachers with the majority on yes/no": lambda sums: percent(
                sums.with_majority, sums.labelled
            ),
        }
        rows: list[list[Cell]] = [
            [name, *(of(sums) for sums in shown.values())] for name, of in measures.items() if shown
        ]
        note = (
            f"Left out: questions on which people's F1 is below {100 * self.min_f1:g}, 10 per cent "
            "in the paper, where human F1 on the others is 80.8."
            if shown
            else "No question has been answered by validators yet."
        )
        return [Table("people", "How far people agree", ["measure", *shown], rows, note)]


def labels_of(turn: Turn) -> list[str]:
    """Return everybody's label of yes, no or neither; official files have the teacher's alone."""
    return [each.affirmation for each in (turn.teacher, *turn.validators) if each.affirmation]


def majority_label(turn: Turn) -> str:
    """Return the question's commonest label; ties are broken at random, by its id (QuAC 4.1)."""
    labels = [WORDS[letter] for letter in labels_of(turn)]
    return AFFIRMATION[majority(labels, random.Random(turn.qid))] if labels else ""


def _mean(total: float, number: int) -> float | None:
    return 100 * total / number if number else None
