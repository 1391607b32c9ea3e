"""How many questions are in the dataset, and why the others are not."""

from collections import Counter
from collections.abc import Iterable, Iterator

from annotation.release.shape import SeedRecord
from annotation.reports.table import Table, share

ORDER = ("kept", "dropped", "waiting")


class Outcomes:
    """Counts questions by outcome, reason and fold while records pass through."""

    def __init__(self) -> None:
        self.counts: Counter[tuple[str, str, str]] = Counter()
        self.are_planned = True
        self.questions = self.synthetic_questions = self.votes = self.synthetic_votes = 0

    def watch(self, seeds: Iterable[SeedRecord]) -> Iterator[SeedRecord]:
        """Yield the seeds unchanged, counting their questions and votes."""
        for seed in seeds:
            for question in seed["questions"]:
                verdict = question["verdict"]
                outcome = verdict["outcome"] if verdict else "waiting"
                reason = verdict["reason"] if verdict else "no_answer_yet"
                # A protocol that plans no fold places each question after its verdict.
                self.are_planned = self.are_planned and bool(seed["fold"])
                self.counts[outcome, reason, seed["fold"] or question["split"] or ""] += 1
                self.questions += 1
                self.synthetic_questions += question["synthetic"]
                self.votes += len(question["votes"])
                self.synthetic_votes += sum(vote["synthetic"] for vote in question["votes"])
            yield seed

    def number(self, outcome: str) -> int:
        """Return how many questions have the outcome."""
        return sum(number for (found, _, _), number in self.counts.items() if found == outcome)

    def table(self, folds: Iterable[str]) -> Table:
        """Return the questions by outcome and reason, a column for each of `folds`."""
        known = list(folds)
        reasons = sorted(
            {(outcome, reason) for outcome, reason, _ in self.counts},
            key=lambda pair: (ORDER.index(pair[0]) if pair[0] in ORDER else len(ORDER), pair[1]),
        )
        rows = []
        for outcome, reason in reasons:
            by_fold = [self.counts[outcome, reason, fold] for fold in known]
            whole = sum(n for (o, r, _), n in self.counts.items() if (o, r) == (outcome, reason))
            rows.append([outcome, reason, *by_fold, whole, share(whole, self.questions)])
        return Table(
            "outcomes",
            "What became of the questions",
            ["outcome", "reason", *known, "all", "share"],
            rows,
            "" if rows else "No question has been written yet.",
        )
