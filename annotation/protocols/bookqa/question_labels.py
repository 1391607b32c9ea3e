"""Labels of questions from a CSV, by the scheme of this folder, and the questions of each label."""

import csv
from collections.abc import Collection, Iterator, Mapping, Sequence
from io import StringIO
from pathlib import Path

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
