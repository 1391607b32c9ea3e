"""How far labellers agree: coefficients by facet, accuracies, and who confuses what with what."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from annotation.agreement.dawid_skene import accuracies, accuracy_intervals, dawid_skene
from annotation.agreement.kappa import COEFFICIENTS, Counts
from annotation.agreement.votes import NONE, Confusion, Votes, pair_confusions, votes_of
from annotation.records.schema import (
    QuestionRecord,
    SeedRecord,
    VoteRecord,
    peoples_votes,
)
from annotation.tables.table import Cell, Table, share
from collector.protocols.parameters import Parameters
from collector.protocols.stage_tables import FieldTable, LabelTable

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


class Agreement:
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

    def watch(self, seeds: Iterable[SeedRecord]) -> Iterator[SeedRecord]:
        """Yield the seeds unchanged."""
        for seed in seeds:
            for question in seed["questions"]:
                self._add(question)
            yield seed

    def tables(self) -> list[Table]:
        """Return the tables of what people labelled; none where no item has two of their labels."""
        found: list[Table] = []
        several = {name: votes_of(cast).several() for name, cast in self.cast.items() if cast}
        facets = {name: votes for name, votes in several.items() if votes.items}
        if not facets:
            return []
        found.append(_coefficients(facets))
        for (_, facet), votes in facets.items():
            found += _of_labellers(facet, votes)
        return [replace(table, of_people=True) for table in found]

    def _add(self, question: QuestionRecord) -> None:
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


def _coefficients(facets: Mapping[tuple[str, str], Votes]) -> Table:
    rows: list[list[Cell]] = []
    for (_, facet), votes in facets.items():
        cells = coefficient_cells(votes.counts())
        rows.append([facet.replace("_", " "), len(votes.items), len(votes.annotators), *cells])
    columns = ["facet", "items", "labellers", *COEFFICIENT_COLUMNS]
    note = f"Of the items that two people or more have labelled. {INTERVALS}"
    return Table("label_agreement", "Agreement of labellers", columns, rows, note)


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
