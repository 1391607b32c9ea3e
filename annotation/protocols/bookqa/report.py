"""The paper's tables of labelled questions: shares of types (T5, T6), their flow (F6), 6.3."""

import heapq
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING

from annotation.protocols.bookqa import question_types
from annotation.protocols.bookqa.question_labels import PAPER, SCHEME
from annotation.records.schema import QuestionRecord, SeedRecord, chosen_vote, is_kept
from annotation.tables.labels import CollectedLabels, cell_of, labels_of, tables_of
from annotation.tables.table import Table

if TYPE_CHECKING:
    from annotation.protocols.bookqa.parameters import Parameters

TYPE, UNIT = "question_type", "answer_unit"
# The stage of protocol.toml that brings labels.
STAGE = "label"
BY_HAND = (
    "Label questions by hand: report NAME --sample FILE.csv, fill in its last columns, then "
    "report NAME --labels FILE.csv."
)
BY_STAGE = f"Publish the stage {STAGE}, or label by hand: report NAME --sample FILE.csv."


def tables(seeds: Iterable[SeedRecord], parameters: "Parameters") -> list[Table]:
    """Return how well question types are told, of what the stage of labels has brought (6.3)."""
    labels = CollectedLabels(parameters)
    for _ in labels.watch(seeds):
        pass
    if STAGE not in labels.stages:
        return _classified([], parameters, BY_HAND)
    found = [(one.text, one.labels[TYPE]) for one in labels.questions(STAGE) if TYPE in one.labels]
    head = labels.simulated(STAGE)
    return [replace(table, simulated=head) for table in _classified(found, parameters, BY_STAGE)]


def sample(
    seeds: Iterable[SeedRecord], parameters: "Parameters", rng: random.Random
) -> list[dict[str, str]]:
    """Return questions drawn to be labelled by hand, as many as the paper labelled (6.2)."""
    salt = rng.getrandbits(64)
    number = parameters.report.hand_labels
    found = heapq.nsmallest(number, _placed(seeds, salt), key=lambda pair: pair[0])
    return [row for _, row in found]


def labelled(rows: Iterable[Mapping[str, str]], parameters: "Parameters") -> list[Table]:
    """Return the shares beside the paper's, the flow, and how well types are told.

    Raises ScoreError naming the row.
    """
    kept = list(rows)
    found = []
    for number, row in enumerate(kept, 1):
        labels = labels_of(row, number, SCHEME.facets())
        if labels and TYPE in labels:
            found.append((cell_of(row, "question", number), labels[TYPE]))
    shares = [beside_paper(table) for table in tables_of(kept, SCHEME)]
    return [*shares, *_classified(found, parameters, BY_HAND)]


def beside_paper(table: Table) -> Table:
    """Return a table of shares, of labels or of their groups, with the paper's beside."""
    known = {label: figures.share for (name, label), figures in PAPER.items() if name == table.name}
    if not known or not table.rows:
        return table
    at = table.columns.index("label" if "label" in table.columns else "group")
    # What a label means stands behind its name.
    rows = [[*row, known.get(str(row[at]).partition(":")[0])] for row in table.rows]
    return replace(table, columns=[*table.columns, "the paper's share"], rows=rows)


def _classified(
    items: Sequence[tuple[str, str]], parameters: "Parameters", to_do: str
) -> list[Table]:
    labels = [choice.value for choice in SCHEME.facet(TYPE).choices]
    return question_types.tables_of(items, labels, parameters.report, to_do=to_do)


def _placed(seeds: Iterable[SeedRecord], salt: int) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the questions of the dataset, each with a place that depends on its id alone."""
    for seed in seeds:
        for question in seed["questions"]:
            if is_kept(question) and chosen_vote(question) is not None:
                place = sha256(f"{salt}/{question['id']}".encode()).hexdigest()
                yield place, _row(seed, question)


def _row(seed: SeedRecord, question: QuestionRecord) -> dict[str, str]:
    other = chosen_vote(question)
    second = other["payload"]["fields"]["answer"] if other else ""
    return {
        "id": question["id"],
        "story": seed["passages"][0]["title"],
        "question": question["text"],
        "answer1": question["payload"]["fields"]["answer"],
        "answer2": second,
        **{facet.name: "" for facet in SCHEME.facets()},
    }
