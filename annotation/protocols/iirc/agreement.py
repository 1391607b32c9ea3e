"""How far annotators agreed on dev and test, and how well new ones did (IIRC 2.3, 4.2)."""

from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING

from annotation.agreement.decision import largest_group
from annotation.agreement.kappa import fleiss_kappa
from annotation.metrics.drop import Score, global_scores, score_question
from annotation.protocols.iirc.analysis.released_answers import gold_of
from annotation.protocols.iirc.validation import Vote, agree, vote
from annotation.records.schema import (
    QuestionRecord,
    VoteRecord,
    is_simulated,
    peoples_votes,
)
from annotation.tables.table import Cell, Table, share, share_of_items
from collector.protocols.parameters import FOLDS

if TYPE_CHECKING:
    from annotation.protocols.iirc.parameters import Parameters

TYPES = ("span", "value", "binary", "none", "bad")
VOTING = "answer"
HUMAN_PERFORMANCE = "human_performance"


class Agreement:
    """Counts the questions of the folds that several annotators answer."""

    def __init__(self, parameters: "Parameters") -> None:
        self.redundancy = {
            fold: parameters.answer.redundancy.most_of(fold)
            for fold in FOLDS
            if parameters.answer.redundancy.most_of(fold) > 1
        }
        self.min_agreeing = parameters.agreement.min_agreeing
        self.types: dict[str, list[list[int]]] = {fold: [] for fold in self.redundancy}
        self.agreeing: Counter[str] = Counter()
        # Of each question: how many pairs of its annotators are equal, and how many there are.
        self.pairs: dict[str, Counter[tuple[int, int]]] = {
            fold: Counter() for fold in self.redundancy
        }

    def add(self, fold: str, question: QuestionRecord) -> None:
        """Count one question of `fold`, if people have given all its votes."""
        cast = [one for one in peoples_votes(question) if one["stage"] == VOTING]
        if len(cast) != self.redundancy.get(fold):
            return
        votes = [vote(one["type"], one["payload"]) for one in cast]
        counts = Counter(one.type for one in votes)
        self.types[fold].append([counts[name] for name in TYPES])
        equal = sum(_equal(one, other) for one, other in combinations(votes, 2))
        self.pairs[fold][equal, len(votes) * (len(votes) - 1) // 2] += 1
        answered = [one for one in votes if one.type != "bad"]
        same = largest_group(answered, agree)
        self.agreeing[fold] += len(same) >= self.min_agreeing

    def table(self) -> Table:
        """Return the agreement by fold."""
        rows: list[list[Cell]] = []
        for fold, number in self.redundancy.items():
            items = self.types[fold]
            rows.append(
                [
                    fold,
                    number,
                    len(items),
                    share(self.agreeing[fold], len(items)),
                    share_of_items(self.pairs[fold]),
                    fleiss_kappa.or_none(items),
                ]
            )
        columns = ["split", "annotators", "questions", "agreed share", "equal pairs share", "kappa"]
        note = (
            f"Agreed: at least {self.min_agreeing} annotators gave the same answer. Equal pairs: "
            "of all pairs of annotators. Kappa: Fleiss', on the type of the answer, bad included."
        )
        return Table("agreement", "Agreement", columns, rows, note, of_people=True)


class HumanPerformance:
    """Scores new annotators' answers against the released ones with the official scorer."""

    def __init__(self, parameters: "Parameters") -> None:
        self.wanted = parameters.human_performance.sample_questions
        self.scores: list[Score] = []
        self.bad = 0
        self.is_simulated = False

    def add(self, question: QuestionRecord) -> None:
        """Score people's second readings of one question, if people's answer is released."""
        self.is_simulated |= any(
            one["stage"] == HUMAN_PERFORMANCE and one["synthetic"] for one in question["votes"]
        )
        gold = None if is_simulated(question) else gold_of(question)
        if gold is None:
            return
        for one in peoples_votes(question):
            if one["stage"] == HUMAN_PERFORMANCE:
                self.bad += one["type"] == "bad"
                self.scores.append(score_question(gold, _prediction(one)))

    def table(self) -> Table:
        """Return exact match and F1, or that nothing has been collected yet."""
        columns = ["measure", "value"]
        title = "Human performance (Table 3 of the IIRC paper)"
        if not self.scores:
            note = f"Not collected yet: publish the stage {HUMAN_PERFORMANCE} once test is decided."
            if self.is_simulated:
                note = "Only simulated workers have done it yet, which says nothing of people."
            return Table("human_performance", title, columns, [], note, of_people=True)
        found = global_scores(self.scores)
        rows: list[list[Cell]] = [
            ["questions", len(self.scores)],
            ["exact match %", 100 * found["global_em"]],
            ["F1 %", 100 * found["global_f1"]],
        ]
        note = f"{self.wanted} questions are wanted; {self.bad} were called bad, which scores 0."
        return Table("human_performance", title, columns, rows, note, of_people=True)


def _equal(one: Vote, other: Vote) -> bool:
    """Return whether two votes are the same; two that call the question bad are."""
    if "bad" in (one.type, other.type):
        return one.type == other.type
    return agree(one, other)


def _prediction(given: VoteRecord) -> list[str] | None:
    """Return the answer as the official scorer is given it, None for a question called bad."""
    if given["type"] == "bad":
        return None
    return list(vote(given["type"], given["payload"]).strings())
