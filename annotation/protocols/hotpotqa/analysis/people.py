"""How people do by each other's answers and facts (HotpotQA 5.3, T8)."""

from annotation.protocols.hotpotqa.analysis.examples import Example
from annotation.protocols.hotpotqa.human import against, upper_bound
from annotation.protocols.hotpotqa.measures import Score, totals
from annotation.reports.table import Cell, Table

COLUMNS = (
    "setting",
    "questions",
    "answer EM %",
    "answer F1 %",
    "facts EM %",
    "facts F1 %",
    "joint EM %",
    "joint F1 %",
)
SHOWN = ("em", "f1", "sp_em", "sp_f1", "joint_em", "joint_f1")
PAPER = (
    "In the paper, on 1,000 examples: human 83.60, 91.40, 61.50, 90.04, 52.30 and 82.55, its upper "
    "bound 96.80, 98.77, 87.40, 97.56, 84.60 and 96.37."
)


class People:
    """Compares the writer with those who answered again, and all of them with each other."""

    def __init__(self) -> None:
        self.writers: list[Score] = []
        self.bounds: list[Score] = []

    def add(self, example: Example) -> None:
        """Count one example, if anybody answered it again."""
        if example.others:
            self.writers.append(against(example.reply, example.others))
            self.bounds.append(upper_bound([example.reply, *example.others]))

    def tables(self) -> list[Table]:
        """Return the people's rows of Table 8."""
        rows = [
            score_row(name, scores)
            for name, scores in (("human", self.writers), ("human upper bound", self.bounds))
            if scores
        ]
        note = PAPER if rows else "Nobody has answered questions of dev and test again yet."
        title = "Human performance (Table 8 of the HotpotQA paper)"
        return [Table("human_performance", title, COLUMNS, rows, note, of_people=True)]


def score_row(name: str, scores: list[Score]) -> list[Cell]:
    """Return one line of COLUMNS, scores in per cent."""
    means = totals(scores)
    return [name, len(scores), *(100 * means[key] for key in SHOWN)]
