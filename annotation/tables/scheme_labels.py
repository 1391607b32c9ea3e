"""What a row that was labelled by hand says, by a label scheme."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from annotation.metrics.result import ScoreError
from annotation.tables.flow import Label, flow_of
from annotation.tables.table import Cell, Table, share
from collector.protocols.label_schemes import SchemeTable
from collector.protocols.stage_tables import FieldTable

# The column of a release's labels that says why they hold, and what it says of a tie.
DECIDED_BY, DRAW = "decided_by", "draw"


def labels_of(
    row: Mapping[str, str], number: int, facets: Sequence[FieldTable]
) -> dict[str, str] | None:
    """Return the row's label of each facet, as the scheme writes it; None for none yet.

    number: of the row, counted from 1. A released row on which labellers are tied lacks what they
    are tied on. Raises ScoreError naming the row for a facet that is no column, a label that is
    none of the facet's, or another row that is labelled in part.
    """
    found = {
        facet.name: _label(cell_of(row, facet.name, number), number, facet) for facet in facets
    }
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
        tables.append(_shares(facet, values, note))
        if facet.groups:
            tables.append(_group_shares(facet, values, note))
    if len(facets) > 1:
        tables.append(_flow(items, facets[0], facets[-1], note))
    return tables


def _shares(facet: FieldTable, values: Sequence[str], note: str) -> Table:
    counts = Counter(values)
    rows: list[list[Cell]] = [
        [
            choice.group,
            f"{choice.value}: {choice.hint}" if choice.hint else choice.value,
            counts[choice.value],
            share(counts[choice.value], len(values)),
        ]
        for choice in facet.choices
    ]
    return Table(facet.name, facet.label, ["group", "label", "items", "share"], rows, note)


def _group_shares(facet: FieldTable, values: Sequence[str], note: str) -> Table:
    counts = Counter(facet.group_of(value) for value in values)
    groups = dict.fromkeys(choice.group for choice in facet.choices)
    rows: list[list[Cell]] = [
        [group, counts[group], share(counts[group], len(values))] for group in groups
    ]
    return Table(
        facet.groups,
        facet.groups.replace("_", " ").capitalize(),
        ["group", "items", "share"],
        rows,
        note,
    )


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
    title = f"From {_called(asked)} to {_called(answered)}"
    columns = [_called(asked), "items", *(choice.value for choice in answered.choices)]
    drawn = flow_of(title, counts, _ends(asked), _ends(answered))
    name = f"flow_{asked.name}_{answered.name}"
    note = f"Of the items of a row, in per cent, those with each label. {note}"
    return Table(name, title, columns, rows, note, shaded_from=2, flow=drawn)


def _called(facet: FieldTable) -> str:
    return facet.name.replace("_", " ")


def _ends(facet: FieldTable) -> list[Label]:
    return [(choice.value, choice.group) for choice in facet.choices]


def cell_of(row: Mapping[str, str], name: str, number: int) -> str:
    """Return what stands in a column, without space around it; raises ScoreError for no column."""
    if name not in row:
        raise ScoreError(f"Row {number}: there is no column {name}; keep those of the sample.")
    return (row[name] or "").strip()


def _label(given: str, number: int, facet: FieldTable) -> str:
    known = {choice.value.lower(): choice.value for choice in facet.choices}
    if given and given.lower() not in known:
        one_of = ", ".join(known.values())
        raise ScoreError(f"Row {number}: {facet.name} must be one of {one_of}, not {given!r}.")
    return known.get(given.lower(), "")
