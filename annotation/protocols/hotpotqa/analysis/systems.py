"""How a system's predictions do, by split and by type of question (HotpotQA 5.2, T4, T6)."""

from annotation.protocols.hotpotqa.analysis.examples import Example
from annotation.protocols.hotpotqa.analysis.people import COLUMNS, score_row
from annotation.protocols.hotpotqa.analysis.sizes import ALL, TYPES
from annotation.protocols.hotpotqa.layout import SPLITS
from annotation.protocols.hotpotqa.measures import Score
from annotation.protocols.hotpotqa.scoring import Gold, Predictions, score_all
from annotation.reports.table import Cell, Table


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
