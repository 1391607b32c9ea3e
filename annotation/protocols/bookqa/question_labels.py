"""Labels of questions, and scores broken down by them (Tables 5 and 6 of the Book QA paper)."""

import csv
from collections.abc import Collection, Iterator, Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import NamedTuple

from annotation.metrics.result import ScoreError, read_file
from annotation.tables.labels import cell_of, labels_of
from collector.protocols.stage_tables import FieldTable, read_scheme

SCHEME = read_scheme(Path(__file__).parent / "labels/questions.toml")
Labels = Mapping[str, Mapping[str, str]]


def read_labels(
    path: Path, keys: Collection[str], known: Collection[str] = ()
) -> tuple[dict[str, dict[str, str]], int]:
    """Return the labels by question id, and of how many questions they are simulated.

    keys: of the questions that are looked at; known: of others that may be labelled too. Raises
    ScoreError naming the file and the row.
    """
    try:
        rows = list(csv.DictReader(StringIO(read_file(path).decode("utf-8-sig"))))
    except (UnicodeDecodeError, csv.Error) as error:
        raise ScoreError(f"{path}: it is no CSV in UTF-8 ({error}).") from None
    wanted, known = set(keys), {*keys, *known}
    found: dict[str, dict[str, str]] = {}
    simulated = 0
    for number, row in enumerate(rows, 1):
        try:
            key, labels = cell_of(row, "id", number), labels_of(row, number, SCHEME.facets())
        except ScoreError as error:
            raise ScoreError(f"{path}: {error}") from None
        if key not in known:
            raise ScoreError(f"{path}: Row {number}: no question has the id {key!r}.")
        if key in found:
            raise ScoreError(f"{path}: Row {number}: {key} is labelled twice.")
        if labels and key in wanted:
            found[key] = labels
            simulated += row.get("simulated") == "yes"
    return found, simulated


def label_groups(
    labels: Labels, keys: Sequence[str]
) -> Iterator[tuple[tuple[str, str], list[int], int]]:
    """Yield each label, groups of labels first, in the scheme's order, if a question has it.

    By the name of its facet or of what groups say, and by its own; with the places of its questions
    among the keys, and of how many questions it is a share: those that have a label of its facet,
    as in the paper's Tables 5 and 6.
    """
    for facet in SCHEME.facets():
        having = {key: of[facet.name] for key, of in labels.items() if facet.name in of}
        for name, label, of in groups_and_labels(facet):
            places = [place for place, key in enumerate(keys) if having.get(key) in of]
            if places:
                yield (name, label), places, len(having)


def groups_and_labels(facet: FieldTable) -> Iterator[tuple[str, str, list[str]]]:
    """Yield the groups of a facet, then its labels: what each is of, its name, and its labels."""
    for group in dict.fromkeys(choice.group for choice in facet.choices):
        of = [choice.value for choice in facet.choices if choice.group == group]
        yield facet.groups, group, of
    for choice in facet.choices:
        yield facet.name, choice.value, [choice.value]


def called(name: str, label: str) -> str:
    """Return what a row of a label or of a group is called."""
    return f"{name.replace('_', ' ')}: {label}"


class Figures(NamedTuple):
    """Figures of one label, or of a group of labels, all from 0 to 1.

    share: of the 1,000 labelled questions. generative, extractive: ROUGE-L of the best BART-based
    and the best BERT-based system. ranker: ROUGE-L of the first five passages by BERT+ICT.
    """

    share: float
    generative: float
    extractive: float
    ranker: float


# In per cent, as Tables 5 and 6 have them.
TYPES = {
    "concept relation": (11.0, 40.48, 24.46, 63.76),
    "concept attribute": (12.0, 34.09, 21.69, 56.73),
    "event attribute": (3.4, 25.88, 10.57, 49.23),
    "event concept": (28.3, 27.35, 15.73, 62.15),
    "event trigger": (1.8, 29.63, 9.28, 37.56),
    "causal": (12.6, 22.86, 10.39, 38.47),
    "temporal": (12.6, 28.01, 15.57, 49.20),
    "nested": (15.4, 23.02, 8.44, 48.93),
    "book attribute": (2.9, 23.11, 25.71, 54.60),
}
UNITS = {
    "entity": (35.3, 26.76, 18.59, 66.79),
    "common noun": (16.9, 31.53, 12.90, 51.03),
    "book specific": (4.3, 39.68, 26.53, 65.54),
    "expression": (25.1, 24.62, 11.50, 39.40),
    "event name": (2.8, 24.79, 5.54, 42.88),
    "state": (4.2, 38.75, 17.03, 53.82),
    "numeric": (4.7, 33.57, 24.44, 57.31),
    "description": (6.1, 26.13, 11.15, 41.70),
    "book attribute": (0.6, 27.91, 19.88, 52.78),
}
NOTE = (
    "The paper's figures are of its 1,000 labelled questions; a group's follow from those of its "
    "labels, by their shares."
)


def _together(rows: Sequence[Sequence[float]]) -> Figures:
    """Return the figures of all rows of per cents as one: a mean by their shares."""
    whole = sum(share for share, *_ in rows)
    means = (sum(row[0] * row[at] for row in rows) / whole for at in (1, 2, 3))
    # A hundredth of 28.3 is no longer .283 in a computer's numbers.
    return Figures(*(round(each / 100, 6) for each in (whole, *means)))


def _figures() -> Iterator[tuple[tuple[str, str], Figures]]:
    for facet, rows in zip(SCHEME.facets(), (TYPES, UNITS), strict=True):
        for name, label, values in groups_and_labels(facet):
            yield (name, label), _together([rows[value] for value in values])


# By the name of a facet, or of what its groups say, and the label or the group.
PAPER: Mapping[tuple[str, str], Figures] = dict(_figures())
