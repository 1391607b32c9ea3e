"""How many questions are in the dataset, why the others are not, and what of it is simulated."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from annotation.records.schema import SeedRecord, is_simulated
from annotation.tables.table import Table, share

ORDER = ("kept", "dropped", "waiting")


class Outcomes:
    """Counts questions by outcome, reason and fold while records pass through."""

    def __init__(self) -> None:
        self.counts: Counter[tuple[str, str, str]] = Counter()
        self.are_planned = True
        self.questions = self.synthetic_questions = self.votes = self.synthetic_votes = 0
        # Questions whose answer is simulated too, and people's votes with something added.
        self.simulated_questions = self.mended_votes = 0

    def watch(self, seeds: Iterable[SeedRecord]) -> Iterator[SeedRecord]:
        """Yield the seeds unchanged, counting their questions and votes."""
        for seed in seeds:
            for question in seed["questions"]:
                verdict = question["verdict"]
                outcome = verdict["outcome"] if verdict else "waiting"
                reason = verdict["reason"] if verdict else "no_answer_yet"
                # A protocol that plans no fold places each question after its verdict.
                self.are_planned = self.are_planned and bool(seed["fold"])
                self.counts[outcome, reason, question["split"] or seed["fold"]] += 1
                self.questions += 1
                self.synthetic_questions += question["synthetic"]
                self.votes += len(question["votes"])
                self.synthetic_votes += sum(vote["synthetic"] for vote in question["votes"])
                self.simulated_questions += is_simulated(question)
                self.mended_votes += sum(
                    bool(vote.get("synthetic_fields")) and not vote["synthetic"]
                    for vote in question["votes"]
                )
            yield seed

    def number(self, outcome: str) -> int:
        """Return how many questions have the outcome."""
        return sum(number for (found, _, _), number in self.counts.items() if found == outcome)

    def simulated(self) -> str:
        """Return in words how much is simulated; blank where nothing is."""
        parts = []
        if self.synthetic_questions:
            parts.append(f"{self.synthetic_questions:,} of {self.questions:,} questions")
        if self.synthetic_votes:
            parts.append(f"{self.synthetic_votes:,} of {self.votes:,} answers")
        if self.mended_votes:
            parts.append(f"a part of {self.mended_votes:,} answers")
        return ", ".join(parts)

    def headed(self, tables: Iterable[Table]) -> list[Table]:
        """Return the tables, each saying in its head whether simulated work is in its figures.

        What simulated workers add to people's questions is in no figure of a protocol's tables;
        a table that has said it for itself stays as it is.
        """
        told = self.simulated()
        if not told:
            return list(tables)
        left_out, counted = f"Simulated work is left out: {told}.", f"With simulated work: {told}."
        return [
            replace(
                table,
                simulated=table.simulated
                or (left_out if table.of_people or not self.simulated_questions else counted),
            )
            for table in tables
        ]

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
