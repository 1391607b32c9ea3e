"""Tables of labels: how far labellers agree, how often each is, and how facets go together."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from annotation.agreement.dawid_skene import accuracies, accuracy_intervals, dawid_skene
from annotation.agreement.kappa import COEFFICIENTS, Counts
from annotation.agreement.votes import NONE, Confusion, Votes, pair_confusions, votes_of
from annotation.metrics.result import ScoreError
from annotation.records.schema import (
    QuestionRecord,
    SeedRecord,
    VoteRecord,
    chosen_vote,
    label_decision,
    peoples_votes,
)
from annotation.tables.table import Cell, Table, flow_of, share
from collector.protocols.parameters import Parameters
from collector.protocols.stage_tables import FieldTable, LabelTable, SchemeTable

# Intervals are drawn anew for every report: with the same seed they are the same.
SEED = 0
# With fewer items that three have labelled, nothing can be said of anybody's accuracy: where two
# differ, nothing tells who of them errs, and what is estimated is too near to the others'.
MIN_ITEMS, MIN_VOTES = 20, 3
COEFFICIENT_COLUMNS = [name for each in COEFFICIENTS for name in (each.name, "95 % interval")]
INTERVALS = "Intervals: percentile bootstrap over items, 2,000 resamples."
HOW_TO_TELL = (
    f"How often each labeller is right is told where {MIN_ITEMS} items or more have {MIN_VOTES} "
    "labels: of two that differ nothing says which is right."
)
# The column of a release's labels that says why they hold, and what it says of a tie.
DECIDED_BY, DRAW = "decided_by", "draw"


class Watch(ABC):
    """Notes something of each question while records pass through."""

    def watch(self, seeds: Iterable[SeedRecord]) -> Iterator[SeedRecord]:
        """Yield the seeds unchanged."""
        for seed in seeds:
            for question in seed["questions"]:
                self.add(question)
            yield seed

    @abstractmethod
    def add(self, question: QuestionRecord) -> None:
        """Note a question."""


class Agreement(Watch):
    """Notes the labels that stages of labels bring while records pass through."""

    def __init__(self, parameters: Parameters) -> None:
        self.stages = label_stages(parameters)
        # (stage, facet) -> (question, labeller, label) as they come.
        self.cast: dict[tuple[str, str], list[tuple[str, str, str]]] = {
            (stage, name): []
            for stage, fields in self.stages.items()
            for field in fields
            for name in (field.name, field.groups)
            if name
        }

    def tables(self) -> list[Table]:
        """Return the tables of what people labelled; none where no item has two of their labels."""
        several = {name: votes_of(cast).several() for name, cast in self.cast.items() if cast}
        facets = {name: votes for name, votes in several.items() if votes.items}
        if not facets:
            return []
        rows: list[list[Cell]] = []
        for (_, facet), votes in facets.items():
            cells = coefficient_cells(votes.counts())
            rows.append([facet.replace("_", " "), len(votes.items), len(votes.annotators), *cells])
        columns = ["facet", "items", "labellers", *COEFFICIENT_COLUMNS]
        note = f"Of the items that two people or more have labelled. {INTERVALS}"
        found = [Table("label_agreement", "Agreement of labellers", columns, rows, note)]
        for (_, facet), votes in facets.items():
            found += _of_labellers(facet, votes)
        return [replace(table, of_people=True) for table in found]

    def add(self, question: QuestionRecord) -> None:
        """Note the labels that people gave a question."""
        for vote in peoples_votes(question):
            if vote["stage"] not in self.stages or not vote["worker"]:
                continue
            labels = labels_of_vote(vote, self.stages[vote["stage"]])
            for facet, label in labels.items():
                self.cast[vote["stage"], facet].append((question["id"], vote["worker"], label))


def label_stages(parameters: Parameters) -> dict[str, list[FieldTable]]:
    """Return the facets of each stage whose labels are collected, by its name."""
    return {
        name: [field for field in table.fields if field.choices]
        for name, table in parameters.stages().items()
        if isinstance(table, LabelTable) and not table.qualifies
    }


def labels_of_vote(vote: VoteRecord, fields: Sequence[FieldTable]) -> dict[str, str]:
    """Return the labels of a vote by facet, groups among them.

    fields: the facets of its stage; the vote's type is the label of the first.
    """
    others: Mapping[str, str | None] = vote["payload"].get("fields", {})
    found: dict[str, str] = {}
    for place, field in enumerate(fields):
        label = others.get(field.name) if place else vote["type"]
        if label:
            found[field.name] = label
            if field.groups:
                found[field.groups] = field.group_of(label)
    return found


def coefficient_cells(counts: Counts) -> list[Cell]:
    """Return each measure of agreement with its interval; None twice for one not defined."""
    cells: list[Cell] = []
    for coefficient in COEFFICIENTS:
        try:
            low, high = coefficient.interval(counts, SEED)
        except ValueError:
            cells += [None, None]
            continue
        # Items that all agree do so however they are drawn: that is no interval.
        cells += [coefficient(counts), f"{low:.2f} to {high:.2f}" if low < high else None]
    return cells


def _of_labellers(facet: str, votes: Votes) -> list[Table]:
    """Return the accuracy of each labeller, and each pair's confusion with its kappa."""
    called = {who: f"labeller {number}" for number, who in enumerate(votes.annotators, 1)}
    confusions = pair_confusions(votes)
    about = facet.replace("_", " ")
    pairs: list[list[Cell]] = [
        [
            f"{called[each.first]}, {called[each.second]}",
            each.n_items,
            share(each.n_equal, each.n_items),
            _kappa(each),
        ]
        for each in confusions
    ]
    columns = ["labellers", "items", "equal share", "Cohen's kappa"]
    thrice = votes.several(MIN_VOTES)
    can_tell = len(thrice.items) >= MIN_ITEMS
    note = "" if can_tell else HOW_TO_TELL
    tables = [Table(f"pairs_{facet}", f"Pairs of labellers: {about}", columns, pairs, note)]
    if can_tell:
        tables.insert(0, _accuracy(facet, thrice, called))
    return [*tables, _heat_map(facet, votes, called, confusions)]


def _kappa(confusion: Confusion) -> float | None:
    try:
        return confusion.cohen_kappa()
    except ValueError:
        return None


def _accuracy(facet: str, votes: Votes, called: Mapping[object, str]) -> Table:
    estimate = dawid_skene(votes)
    given = (votes.codes != NONE).sum(axis=0)
    rows: list[list[Cell]] = [
        [called[who], int(number), right, f"{100 * low:.0f} to {100 * high:.0f} %"]
        for who, number, right, (low, high) in zip(
            votes.annotators,
            given,
            accuracies(votes, estimate),
            accuracy_intervals(votes, estimate, SEED),
            strict=True,
        )
    ]
    note = (
        "As Dawid and Skene's model estimates it from the labels alone, of what three people or "
        "more have labelled: it knows no truth."
    )
    columns = ["labeller", "items", "right share", "95 % interval"]
    title = f"Accuracy of labellers: {facet.replace('_', ' ')}"
    return Table(f"accuracy_{facet}", title, columns, rows, note)


def _heat_map(
    facet: str, votes: Votes, called: Mapping[object, str], confusions: Iterable[Confusion]
) -> Table:
    """Return what the second of each pair says where the first gives a label, as shares."""
    rows: list[list[Cell]] = []
    for each in confusions:
        for label, counts in zip(votes.labels, each.table, strict=True):
            if whole := int(counts.sum()):
                pair = f"{called[each.first]}, {called[each.second]}"
                rows.append([pair, str(label), whole, *(share(int(n), whole) for n in counts)])
    columns = ["labellers", "the first says", "items", *map(str, votes.labels)]
    title = f"What pairs confuse: {facet.replace('_', ' ')}"
    note = "Of the items that the first of the pair gives a label, how the second labels them."
    return Table(f"confusion_{facet}", title, columns, rows, note, shaded_from=3)


def labels_of(
    row: Mapping[str, str], number: int, facets: Sequence[FieldTable]
) -> dict[str, str] | None:
    """Return the row's label of each facet, as the scheme writes it; None for none yet.

    number: of the row, counted from 1. A released row on which labellers are tied lacks what they
    are tied on. Raises ScoreError naming the row for a facet that is no column, a label that is
    none of the facet's, or another row that is labelled in part.
    """
    found: dict[str, str] = {}
    for facet in facets:
        given = cell_of(row, facet.name, number)
        known = {choice.value.lower(): choice.value for choice in facet.choices}
        if given and given.lower() not in known:
            one_of = ", ".join(known.values())
            raise ScoreError(f"Row {number}: {facet.name} must be one of {one_of}, not {given!r}.")
        found[facet.name] = known.get(given.lower(), "")
    if not any(found.values()):
        return None
    if not all(found.values()) and row.get(DECIDED_BY) != DRAW:
        raise ScoreError(f"Row {number}: label all of {', '.join(found)}, or none.")
    return {name: label for name, label in found.items() if label}


def tables_of(rows: Iterable[Mapping[str, str]], scheme: SchemeTable) -> list[Table]:
    """Return the tables of what rows labelled by hand say.

    Raises ScoreError as `labels_of` does; a row without labels waits.
    """
    facets = scheme.facets()
    labelled = [labels_of(row, number, facets) for number, row in enumerate(rows, 1)]
    found = [labels for labels in labelled if labels]
    note = f"{len(found)} rows are labelled, {len(labelled) - len(found)} wait. {scheme.source}."
    return tables_of_labels(found, facets, note)


def tables_of_labels(
    items: Sequence[Mapping[str, str]], facets: Sequence[FieldTable], note: str
) -> list[Table]:
    """Return how many items have each label of each facet, and how facets go together.

    items: the label of each by facet, where it has one. A facet's groups are counted too; the flow
    is from the first facet, what is asked, to the last, what the answer is.
    """
    tables = []
    for facet in facets:
        values = [labels[facet.name] for labels in items if facet.name in labels]
        counts, of_group = Counter(values), Counter(map(facet.group_of, values))
        rows: list[list[Cell]] = []
        for choice in facet.choices:
            called = f"{choice.value}: {choice.hint}" if choice.hint else choice.value
            number = counts[choice.value]
            rows.append([choice.group, called, number, share(number, len(values))])
        columns = ["group", "label", "items", "share"]
        tables.append(Table(facet.name, facet.label, columns, rows, note))
        if facet.groups:
            groups = dict.fromkeys(choice.group for choice in facet.choices)
            title = facet.groups.replace("_", " ").capitalize()
            rows = [
                [group, of_group[group], share(of_group[group], len(values))] for group in groups
            ]
            tables.append(Table(facet.groups, title, ["group", "items", "share"], rows, note))
    if len(facets) > 1:
        tables.append(_flow(items, facets[0], facets[-1], note))
    return tables


def _flow(
    items: Sequence[Mapping[str, str]], asked: FieldTable, answered: FieldTable, note: str
) -> Table:
    """Return the shares of the last facet's labels among the items with each of the first's."""
    counts = Counter(
        (labels[asked.name], labels[answered.name])
        for labels in items
        if asked.name in labels and answered.name in labels
    )
    rows: list[list[Cell]] = []
    for choice in asked.choices:
        of = [counts[choice.value, other.value] for other in answered.choices]
        if whole := sum(of):
            rows.append([choice.value, whole, *(share(number, whole) for number in of)])
    beginning, end = (facet.name.replace("_", " ") for facet in (asked, answered))
    title = f"From {beginning} to {end}"
    columns = [beginning, "items", *(choice.value for choice in answered.choices)]
    sides = [[(each.value, each.group) for each in facet.choices] for facet in (asked, answered)]
    drawn = flow_of(title, counts, *sides)
    name = f"flow_{asked.name}_{answered.name}"
    note = f"Of the items of a row, in per cent, those with each label. {note}"
    return Table(name, title, columns, rows, note, shaded_from=2, flow=drawn)


def cell_of(row: Mapping[str, str], name: str, number: int) -> str:
    """Return what stands in a column, without space around it; raises ScoreError for no column."""
    if name not in row:
        raise ScoreError(f"Row {number}: there is no column {name}; keep those of the sample.")
    return (row[name] or "").strip()


@dataclass(frozen=True)
class Labelled:
    """A question with its label of each facet; a facet that is a draw is missing."""

    text: str
    labels: Mapping[str, str]


class CollectedLabels(Watch):
    """Notes the labels of each question while records pass through.

    Simulated labels tell something only where people have given none in the stage.
    """

    def __init__(self, parameters: Parameters) -> None:
        self.stages = label_stages(parameters)
        self.of_people: dict[str, list[Labelled]] = {stage: [] for stage in self.stages}
        self.of_simulated: dict[str, list[Labelled]] = {stage: [] for stage in self.stages}

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

    def add(self, question: QuestionRecord) -> None:
        """Note the labels of a question that is not dropped."""
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
