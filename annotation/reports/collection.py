"""All tables of one collection: the protocol's own, the outcomes, agreement, labels and pay."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from django.db.models import Count, Q

from annotation.decisions.records import records
from annotation.decisions.verdicts import voting_stages
from annotation.protocols.contracts import EXPORT, REPORT
from annotation.records.schema import QuestionRecord, SeedRecord, is_simulated, peoples_votes
from annotation.records.withholding import NOTHING, Withheld, public_records
from annotation.reports.pay import bonus_tables, pay_table
from annotation.tables.labels import (
    COEFFICIENT_COLUMNS,
    INTERVALS,
    Agreement,
    CollectedLabels,
    Watch,
    coefficient_cells,
)
from annotation.tables.table import Cell, Table, share
from collector.models import Collection
from collector.protocols.creation import parameters_of
from collector.protocols.loading import get_protocol
from collector.protocols.parameters import FOLDS, Parameters
from tasks.models import Grant, GrantState, Submission
from tasks.people.qualifications import trusted_grants
from tasks.work.kinds.hit_words import title_of
from tasks.work.kinds.registry import kind_of

LET_IN = Q(is_let_in=True)
ORDER = ("kept", "dropped", "waiting")


def let_in_tables(collection: Collection) -> list[Table]:
    """Return who passed and who was let in, by qualification; none where nobody was let in."""
    if not trusted_grants(collection).exists():
        return []
    granted = Q(state=GrantState.GRANTED)
    rows = (
        Grant.objects.filter(qualification__stage__collection=collection)
        .values("qualification__stage__name")
        .annotate(
            handed_in=Count("submitted_at"),
            passed=Count("pk", filter=~LET_IN & granted),
            let_in=Count("pk", filter=LET_IN & granted),
            back=Count("pk", filter=LET_IN & ~granted),
        )
        .order_by("qualification__stage__position")
    )
    tables = parameters_of(collection).stages()
    cells = [
        [
            title_of(tables[row["qualification__stage__name"]]),
            *(row[name] for name in ("handed_in", "passed", "let_in", "back")),
        ]
        for row in rows
    ]
    columns = ["qualification", "handed in", "passed", "let in without passing", "taken back"]
    return [Table("let_in", "Passed and let in without passing", columns, cells)]


def makers_let_in(collection: Collection) -> tuple[int, int]:
    """Return how many people's work counts, and how many of them were let in without passing."""
    tables = parameters_of(collection).stages()
    work = Submission.objects.filter(
        lease__unit__stage__collection=collection,
        lease__unit__stage__name__in=[name for name, one in tables.items() if not one.qualifies],
        counts=True,
    )
    makers = set(work.values_list("lease__worker", flat=True).distinct())
    trusted = set(trusted_grants(collection).values_list("worker", flat=True))
    return len(makers), len(makers & trusted)


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


class VoteAgreement(Watch):
    """Notes how people vote while records pass through.

    The votes on what a stage asks may come from several stages: in a dialog its teacher answers
    first. Later readings are no votes, and labels have tables of their own.
    """

    def __init__(self, parameters: Parameters) -> None:
        self.stages = parameters.stages()
        self.voting = voting_stages(parameters)
        self.cast: dict[tuple[str, str], _Cast] = {}

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

    def add(self, question: QuestionRecord) -> None:
        """Note the votes that people gave a question."""
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


def tables_of(collection: Collection) -> list[Table]:
    """Return the collection's report; raises ProtocolError.

    Reads every question once, in memory that does not grow.
    """
    tables, _ = tables_from(collection, identified(collection), pay=pay_table(collection))
    return [*tables, *bonus_tables(collection), *let_in_tables(collection)]


def tables_of_predictions(collection: Collection, predictions: Path) -> list[Table]:
    """Return the protocol's tables of how predictions in its official layout do.

    Raises ProtocolError where it offers none, ScoreError for what is wrong with the file.
    """
    report = get_protocol(collection.protocol).part(REPORT, "predicted")
    outcomes, parameters = Outcomes(), parameters_of(collection)
    seeds = outcomes.watch(identified(collection))
    tables = report.predicted(seeds, parameters, predictions)
    return outcomes.headed(tables)


def tables_from(
    collection: Collection,
    seeds: Iterable[SeedRecord],
    *,
    pay: Table,
    withheld: Withheld = NOTHING,
) -> tuple[list[Table], Outcomes]:
    """Return the report of records read before, and the counts of their questions and votes.

    pay: the table that comes last. withheld: splits that the protocol's tables must not tell of.

    The protocol's part `report.py` offers `tables(seeds, parameters)`, which goes through the
    seeds once; a protocol without that part gets the other tables alone.
    """
    outcomes, protocol = Outcomes(), get_protocol(collection.protocol)
    parameters = parameters_of(collection)
    agreement, labels = Agreement(parameters), CollectedLabels(parameters)
    votes = VoteAgreement(parameters)
    public = public_records(outcomes.watch(seeds), withheld)
    watched = votes.watch(labels.watch(agreement.watch(public)))
    report = protocol.part(REPORT) if protocol.has(REPORT) else None
    tables = report.tables(watched, parameters) if report else []
    for _ in watched:
        pass
    of_labels = labels.tables()
    if report:
        of_labels = [report.beside_paper(table) for table in of_labels]
    folds = FOLDS if outcomes.are_planned else protocol.part(EXPORT).SPLITS
    tables += [*of_labels, *agreement.tables(), *votes.tables(), outcomes.table(folds)]
    return [*outcomes.headed(tables), pay], outcomes


def identified(collection: Collection) -> Iterable[SeedRecord]:
    """Return the collection's records under the ids of its release."""
    return get_protocol(collection.protocol).part(EXPORT).identified(records(collection))
