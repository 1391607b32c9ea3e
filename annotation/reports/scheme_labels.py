"""What a row that was labelled by hand says, by a label scheme."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from annotation.metrics.result import ScoreError
from annotation.reports.table import Table, share
from collector.protocols.label_schemes import SchemeTable
from collector.protocols.stage_tables import FieldTable


def labels_of(
    row: Mapping[str, str], number: int, facets: Sequence[FieldTable]
) -> dict[str, str] | None:
    """Return the row's label of each facet, as the scheme writes it; None for none yet.

    number: of the row, counted from 1. Raises ScoreError naming the row for a facet that is no
    column, a label that is none of the facet's, or a row that is labelled in part.
    """
    found = {
        facet.name: _label(cell_of(row, facet.name, number), number, facet) for facet in facets
    }
    if not any(found.values()):
        return None
    if not all(found.values()):
        raise ScoreError(f"Row {number}: label all of {', '.join(found)}, or none.")
    return found


def tables_of(rows: Iterable[Mapping[str, str]], scheme: SchemeTable) -> list[Table]:
    """Return a table of each facet: its labels, how many rows have each, and their share.

    Raises ScoreError as `labels_of` does; a row without labels waits.
    """
    facets = scheme.facets()
    labelled = [labels_of(row, number, facets) for number, row in enumerate(rows, 1)]
    whole = sum(labels is not None for labels in labelled)
    counts = Counter(pair for labels in labelled if labels for pair in labels.items())
    note = f"{whole} rows are labelled, {len(labelled) - whole} wait. {scheme.source}."
    return [
        Table(
            facet.name,
            facet.label,
            ["group", "label", "rows", "share"],
            [
                [
                    choice.group,
                    f"{choice.value}: {choice.hint}" if choice.hint else choice.value,
                    counts[facet.name, choice.value],
                    share(counts[facet.name, choice.value], whole),
                ]
                for choice in facet.choices
            ],
            note,
        )
        for facet in facets
    ]


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
