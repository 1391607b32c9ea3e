"""How systems do, by split and type, and people by each other (HotpotQA 5.2, 5.3; T4, T6, T8)."""

from annotation.protocols.hotpotqa.analysis.examples import Example
from annotation.protocols.hotpotqa.analysis.sizes import ALL, TYPES
from annotation.protocols.hotpotqa.file_format import SPLITS
from annotation.protocols.hotpotqa.measures import Score, against, totals, upper_bound
from annotation.protocols.hotpotqa.scoring import Gold, Predictions, score_all
from annotation.tables.table import Cell, Table

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
NOBODY = (
    "Nobody has answered questions of dev and test again yet: once they are there, publish the "
    "stage human_performance."
)


class Systems:
    """Scores the questions of every split for which anything was predicted."""

    def __init__(self, given: Predictions) -> None:
        self.given = given
        self.told = given.answers.keys() | given.facts.keys()
        self.touched: set[str] = set()
        self.scores: dict[tuple[str, str], list[Score]] = {}

    def add(self, example: Example) -> None:
        """Score one question."""
        if example.id in self.told:
            self.touched.add(example.split)
        (score,) = score_all([_gold(example)], self.given)
        for kind in (ALL, example.type):
            self.scores.setdefault((example.split, kind), []).append(score)

    def tables(self) -> list[Table]:
        """Return a row for each split and type; questions without prediction count 0."""
        rows: list[list[Cell]] = [
            score_row(split if kind == ALL else f"{split}, {kind}", self.scores[split, kind])
            for split in SPLITS
            if split in self.touched
            for kind in (ALL, *TYPES)
            if (split, kind) in self.scores
        ]
        note = (
            "In the paper dev has answer F1 58.28 and joint F1 40.86 with distractors, 34.36 and "
            "17.73 in the full wiki setting."
            if rows
            else "None of the predicted ids is a question of this collection: use a release's ids."
        )
        title = "Scores of these predictions (Tables 4 and 6 of the HotpotQA paper)"
        return [Table("scores", title, ("split", *COLUMNS[1:]), rows, note)]


def _gold(example: Example) -> Gold:
    facts = tuple(
        (example.pair[paragraph]["title"], sentence) for paragraph, sentence in example.reply.facts
    )
    return Gold(example.id, example.reply.answer, facts, example.type, "")


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
        note = PAPER if rows else NOBODY
        title = "Human performance (Table 8 of the HotpotQA paper)"
        return [Table("human_performance", title, COLUMNS, rows, note, of_people=True)]


def score_row(name: str, scores: list[Score]) -> list[Cell]:
    """Return one line of COLUMNS, scores in per cent."""
    means = totals(scores)
    return [name, len(scores), *(100 * means[key] for key in SHOWN)]
