"""How a system's predictions do on a collection's questions (IIRC 4.2, 4.3; T3 to T6)."""

from collections.abc import Mapping

from annotation.metrics.drop import Answer, Score, global_scores, score_question
from annotation.protocols.iirc.analysis.released_answers import gold_of, needed_documents
from annotation.protocols.iirc.dataset_tree import NONE
from annotation.protocols.iirc.scoring import links_group, precision_recall, says_none
from annotation.records.schema import QuestionRecord, chosen_vote, is_kept
from annotation.tables.table import Cell, Table
from tasks.work.answer_summary import type_words

COLUMNS = ("questions", "exact match %", "F1 %")
PAPER = {
    "scores": "In the paper the baseline has an F1 of 31.1 and people one of 88.4.",
    "scores_by_links": "Counted as in the report's Table 4.",
    "scores_by_answer_type": "The paper's baseline does worst where the answer is a number.",
}
TITLES = {
    "scores": "Scores of these predictions (Table 3 of the IIRC paper)",
    "scores_by_links": "By linked documents needed (Table 4 of the IIRC paper)",
    "scores_by_answer_type": "By type of answer (Table 5 of the IIRC paper)",
}


class Systems:
    """Scores the questions of every split for which anything was predicted."""

    def __init__(self, predictions: Mapping[str, Answer], most_links: int) -> None:
        self.predictions, self.most_links = predictions, most_links
        self.rows: list[tuple[str, Score, int, str]] = []
        self.told: set[str] = set()
        self.none: list[tuple[str, bool, bool]] = []

    def add(self, fold: str, question: QuestionRecord) -> None:
        """Score one question, if it is kept; without a prediction it counts 0."""
        gold, released = gold_of(question), chosen_vote(question)
        if gold is None or released is None or not is_kept(question):
            return
        given = self.predictions.get(question["id"])
        if given is not None:
            self.told.add(fold)
        score = score_question(gold, given)
        self.rows.append((fold, score, needed_documents(question), released["type"]))
        self.none.append((fold, released["type"] == NONE, says_none(given)))

    def tables(self) -> list[Table]:
        """Return Tables 3 to 6; questions of splits without any prediction are left out."""
        rows = [row for row in self.rows if row[0] in self.told]
        by_split = self._groups([(split, score) for split, score, _, _ in rows])
        by_links = self._groups(
            [(links_group(n, self.most_links), score) for _, score, n, _ in rows]
        )
        by_type = self._groups([(type_words(kind), score) for _, score, _, kind in rows])
        if rows:
            by_split = [["all", *_means([score for _, score, _, _ in rows])], *by_split]
        found = {"scores": by_split, "scores_by_links": by_links, "scores_by_answer_type": by_type}
        tables = [
            Table(
                name,
                TITLES[name],
                [name.partition("_by_")[2].replace("_", " ") or "split", *COLUMNS],
                lines,
                PAPER[name] if rows else self._nothing(),
            )
            for name, lines in found.items()
        ]
        return [*tables, self._unanswerable()]

    def _groups(self, scored: list[tuple[str, Score]]) -> list[list[Cell]]:
        names = sorted({name for name, _ in scored})
        return [[name, *_means([one for group, one in scored if group == name])] for name in names]

    def _unanswerable(self) -> Table:
        """Return precision, recall and F1 of saying that there is no answer (Table 6)."""
        told = [(gold, said) for fold, gold, said in self.none if fold in self.told]
        both = sum(gold and said for gold, said in told)
        said, gold = sum(said for _, said in told), sum(gold for gold, _ in told)
        found = {
            "these predictions": precision_recall(both, said, gold),
            "always no answer": precision_recall(gold, len(told), gold),
        }
        rows: list[list[Cell]] = [
            [name, *(100 * value for value in of.values())] for name, of in found.items()
        ]
        columns = ["detector", "precision %", "recall %", "F1 %"]
        title = "Saying that there is no answer (Table 6 of the IIRC paper)"
        return Table("unanswerable", title, columns, rows if told else [], "")

    @staticmethod
    def _nothing() -> str:
        return "None of the predicted ids is a question of this collection: use a release's ids."


def _means(scores: list[Score]) -> list[Cell]:
    means = global_scores(scores)
    return [len(scores), 100 * means["global_em"], 100 * means["global_f1"]]
