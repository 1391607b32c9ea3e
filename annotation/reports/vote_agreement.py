"""How far the people agree who vote on the same question, where a vote is one of a few labels."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from annotation.decisions.verdicts import voting_stages
from annotation.records.schema import QuestionRecord, SeedRecord, peoples_votes
from annotation.tables.agreement import COEFFICIENT_COLUMNS, INTERVALS, coefficient_cells
from annotation.tables.table import Cell, Table
from collector.protocols.parameters import Parameters
from tasks.work.kinds.registry import kind_of


@dataclass
class _Cast:
    """Votes of one facet: how many questions have so many votes for each label; and by whom."""

    questions: Counter[tuple[tuple[str, int], ...]] = field(default_factory=Counter)
    people: set[str] = field(default_factory=set)

    def counts(self) -> list[list[int]]:
        """Return how many gave each label, a row for each question."""
        labels = sorted({label for counts in self.questions for label, _ in counts})
        found: list[list[int]] = []
        for given, number in self.questions.items():
            counts = dict(given)
            found += [[counts.get(label, 0) for label in labels]] * number
        return found


class VoteAgreement:
    """Notes how people vote while records pass through.

    The votes on what a stage asks may come from several stages: in a dialog its teacher answers
    first. Later readings are no votes, and labels have tables of their own.
    """

    def __init__(self, parameters: Parameters) -> None:
        self.stages = parameters.stages()
        self.voting = voting_stages(parameters)
        self.cast: dict[tuple[str, str], _Cast] = {}

    def watch(self, seeds: Iterable[SeedRecord]) -> Iterator[SeedRecord]:
        """Yield the seeds unchanged."""
        for seed in seeds:
            for question in seed["questions"]:
                self._add(question)
            yield seed

    def tables(self) -> list[Table]:
        """Return the one table; none where no question has two votes that are labels."""
        if not self.cast:
            return []
        rows: list[list[Cell]] = []
        for (stage, facet), cast in self.cast.items():
            counts = cast.counts()
            cells = coefficient_cells(counts)
            rows.append([stage, facet, len(counts), len(cast.people), *cells])
        columns = ["questions of", "votes on", "questions", "people", *COEFFICIENT_COLUMNS]
        note = (
            "Of the questions that two people or more have voted on, whatever became of them. "
            f"{INTERVALS}"
        )
        title = "Agreement of votes"
        return [Table("vote_agreement", title, columns, rows, note, of_people=True)]

    def _add(self, question: QuestionRecord) -> None:
        source = question["stage"]
        given: dict[str, Counter[str]] = {}
        people: dict[str, set[str]] = {}
        for vote in peoples_votes(question):
            if vote["worker"] and vote["stage"] in self.voting.get(source, ()):
                kind = kind_of(self.stages[vote["stage"]])
                for facet, label in kind.categories(vote["type"], vote["payload"]).items():
                    given.setdefault(facet, Counter())[label] += 1
                    people.setdefault(facet, set()).add(vote["worker"])
        for facet, counts in given.items():
            if counts.total() > 1:
                cast = self.cast.setdefault((source, facet), _Cast())
                cast.questions[tuple(sorted(counts.items()))] += 1
                cast.people |= people[facet]
