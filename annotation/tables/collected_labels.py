"""What stages of labels have brought: each question's labels, how often each is, how they go."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from annotation.records.schema import (
    QuestionRecord,
    SeedRecord,
    VoteRecord,
    chosen_vote,
    label_decision,
    peoples_votes,
)
from annotation.tables.agreement import label_stages, labels_of_vote
from annotation.tables.scheme_labels import tables_of_labels
from annotation.tables.table import Table
from collector.protocols.parameters import Parameters
from collector.protocols.stage_tables import FieldTable


@dataclass(frozen=True)
class Labelled:
    """A question with its label of each facet; a facet that is a draw is missing."""

    text: str
    labels: Mapping[str, str]


class CollectedLabels:
    """Notes the labels of each question while records pass through.

    Simulated labels tell something only where people have given none in the stage.
    """

    def __init__(self, parameters: Parameters) -> None:
        self.stages = label_stages(parameters)
        self.of_people: dict[str, list[Labelled]] = {stage: [] for stage in self.stages}
        self.of_simulated: dict[str, list[Labelled]] = {stage: [] for stage in self.stages}

    def watch(self, seeds: Iterable[SeedRecord]) -> Iterator[SeedRecord]:
        """Yield the seeds unchanged."""
        for seed in seeds:
            for question in seed["questions"]:
                self._add(question)
            yield seed

    def questions(self, stage: str) -> list[Labelled]:
        """Return what is labelled in the stage: by people, else by simulated workers."""
        return self.of_people[stage] or self.of_simulated[stage]

    def simulated(self, stage: str) -> str:
        """Return in words what of the stage's labels is simulated; blank where nothing is."""
        number = len(self.of_simulated[stage])
        if not number:
            return ""
        kept = "Without" if self.of_people[stage] else "With"
        return f"{kept} simulated labels: of {number:,} questions."

    def tables(self) -> list[Table]:
        """Return how often each label is and how facets go together, by stage."""
        found: list[Table] = []
        for stage, facets in self.stages.items():
            items = self.questions(stage)
            if not items:
                title = f"Labels of the stage {stage}"
                note = (
                    f"Nothing is labelled yet: publish the stage {stage}, or wait for its first "
                    "labels."
                )
                found.append(Table(f"labels_{stage}", title, [], [], note))
                continue
            n_open = sum(len(facets) - len(one.labels) for one in items)
            note = f"{len(items):,} questions are labelled."
            if n_open:
                note += f" {n_open:,} labels are tied, and in no row until somebody decides."
            head = self.simulated(stage)
            tables = tables_of_labels([one.labels for one in items], facets, note)
            found += [replace(table, simulated=head) for table in tables]
        return found

    def _add(self, question: QuestionRecord) -> None:
        verdict = question["verdict"]
        if verdict is not None and verdict["outcome"] == "dropped":
            return
        simulated = [vote for vote in question["votes"] if vote["synthetic"]]
        for votes, found in (
            (peoples_votes(question), self.of_people),
            (simulated, self.of_simulated),
        ):
            for stage, facets in self.stages.items():
                given = [vote for vote in votes if vote["stage"] == stage]
                if not given:
                    continue
                labels = labels_that_hold(question, stage, facets, given)
                found[stage].append(Labelled(question["text"], labels))


def labels_that_hold(
    question: QuestionRecord,
    stage: str,
    facets: Sequence[FieldTable],
    votes: Sequence[VoteRecord],
) -> dict[str, str]:
    """Return the question's label of each facet; a facet that is a draw is missing.

    What a requester decided comes first, then the released vote, then what most of the votes say.
    """
    decided, chosen = label_decision(question, stage), chosen_vote(question)
    if decided is not None:
        return _most_given([decided], facets)
    if chosen and chosen["stage"] == stage and (chosen in votes or "correction" in question):
        return _most_given([chosen], facets)
    return _most_given(votes, facets)


def _most_given(votes: Sequence[VoteRecord], facets: Sequence[FieldTable]) -> dict[str, str]:
    """Return the label that most votes give each facet; none where several are given as often."""
    found = {}
    given = [labels_of_vote(vote, facets) for vote in votes]
    for facet in facets:
        counts = Counter(labels[facet.name] for labels in given if facet.name in labels)
        first = counts.most_common(2)
        if first and (len(first) == 1 or first[0][1] > first[1][1]):
            found[facet.name] = first[0][0]
    return found
