"""Labels of questions from a CSV, by the scheme of this folder, and the questions of each label."""

import csv
from collections.abc import Collection, Iterator, Mapping, Sequence
from io import StringIO
from pathlib import Path

from annotation.metrics.result import ScoreError, read_file
from annotation.reports.scheme_labels import cell_of, labels_of
from collector.protocols.label_schemes import read_scheme
from collector.protocols.stage_tables import ChoiceTable, FieldTable

SCHEME = read_scheme(Path(__file__).parent / "labels/questions.toml")
Labels = Mapping[str, Mapping[str, str]]


def read_labels(path: Path, keys: Collection[str]) -> tuple[dict[str, dict[str, str]], int]:
    """Return the labels by question id, and of how many questions they are simulated.

    Raises ScoreError naming the file and the row.
    """
    try:
        rows = list(csv.DictReader(StringIO(read_file(path).decode("utf-8-sig"))))
    except (UnicodeDecodeError, csv.Error) as error:
        raise ScoreError(f"{path}: it is no CSV in UTF-8 ({error}).") from None
    known = set(keys)
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
        if labels:
            found[key] = labels
            simulated += row.get("simulated") == "yes"
    return found, simulated


def label_groups(labels: Labels, keys: Sequence[str]) -> Iterator[tuple[str, list[int], int]]:
    """Yield each label, groups of labels first, in the scheme's order, if a question has it.

    With the places of its questions among the keys, and of how many questions it is a share: those
    that have a label of its facet, as in the paper's Tables 5 and 6.
    """
    for facet in SCHEME.facets():
        having = {key: of[facet.name] for key, of in labels.items() if facet.name in of}
        groups = {group: [each.value for each in of] for group, of in _grouped(facet).items()}
        alone = {choice.value: [choice.value] for choice in facet.choices}
        for name, values in ((facet.groups, groups), (facet.name, alone)):
            for label, of in values.items():
                places = [place for place, key in enumerate(keys) if having.get(key) in of]
                if places:
                    yield f"{name.replace('_', ' ')}: {label}", places, len(having)


def _grouped(facet: FieldTable) -> dict[str, list[ChoiceTable]]:
    found: dict[str, list[ChoiceTable]] = {}
    for choice in facet.choices:
        found.setdefault(choice.group, []).append(choice)
    return found
