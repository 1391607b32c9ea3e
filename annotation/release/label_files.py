"""What stages of labels brought, as tables: the labels that hold, and every one that was given.

A stage called `label` makes labels.csv and label_votes.csv; a stage in which nobody has labelled
anything makes none.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from annotation.records.schema import (
    QuestionRecord,
    SeedRecord,
    VoteRecord,
    chosen_vote,
    is_kept,
    label_decision,
    peoples_votes,
)
from annotation.release import release_folder
from annotation.tables.labels import (
    DECIDED_BY,
    DRAW,
    label_stages,
    labels_of_vote,
    labels_that_hold,
)
from collector.protocols.parameters import Parameters
from collector.protocols.stage_tables import FieldTable
from common.spreadsheet import csv_lines

YES = "yes"
# Why a label holds.
ALONE, AGREED, MOST, DECIDED = "one labeller", "agreement", "majority", "adjudication"
HOLDS = "the labels of each question that hold, with how they came to (CSV)"
GIVEN = "every label that was given, by whom, with notes and what a reviewer decided (CSV)"
Line = list[str]


@dataclass(frozen=True)
class _Stage:
    """A stage of labels: its facets in order, each followed by the name of its groups."""

    name: str
    facets: Sequence[FieldTable]

    @property
    def columns(self) -> list[str]:
        """Return the names of all that is labelled."""
        return [name for each in self.facets for name in (each.name, each.groups) if name]


def write_labels(
    folder: Path, seeds: Iterable[SeedRecord], parameters: Parameters
) -> dict[str, str]:
    """Write both files of each stage in which something is labelled; return what each holds.

    seeds: with all their questions, gone through once for each file. In the first are the questions
    of the dataset, labelled by simulated workers only where people have labelled none; in the
    second simulated labels are marked.
    """
    described: dict[str, str] = {}
    for name, facets in label_stages(parameters).items():
        stage = _Stage(name, facets)
        if not any(_votes(question, name) for seed in seeds for question in seed["questions"]):
            continue
        for file, lines, words in (
            (f"{name}s.csv", _labels(stage, seeds), HOLDS),
            (f"{name}_votes.csv", _given(stage, seeds), GIVEN),
        ):
            release_folder.put(folder, file, (line.encode() for line in csv_lines(lines)))
            described[file] = words
    return described


def _votes(question: QuestionRecord, stage: str) -> list[VoteRecord]:
    return [vote for vote in question["votes"] if vote["stage"] == stage]


def _labels(stage: _Stage, seeds: Iterable[SeedRecord]) -> Iterator[Line]:
    columns = ["id", "split", "question", "answer", "second_answer"]
    yield [*columns, *stage.columns, "labellers", DECIDED_BY, "simulated"]
    for seed in seeds:
        for question in filter(is_kept, seed["questions"]):
            people = [one for one in peoples_votes(question) if one["stage"] == stage.name]
            votes = people or _votes(question, stage.name)
            if not votes:
                continue
            labels = labels_that_hold(question, stage.name, stage.facets, votes)
            released = chosen_vote(question)
            yield [
                question["id"],
                question["split"] or "",
                question["text"],
                _words(question["payload"]),
                _words(released["payload"]) if released else "",
                *_cells(stage, labels),
                str(len(votes)),
                _decided_by(question, stage, votes, labels),
                YES if votes is not people else "",
            ]


def _cells(stage: _Stage, labels: Mapping[str, str]) -> Iterator[str]:
    """Yield the labels, each followed by the group it is in where groups have a name."""
    for facet in stage.facets:
        label = labels.get(facet.name, "")
        yield label
        if facet.groups:
            yield facet.group_of(label)


def _words(payload: Mapping[str, object]) -> str:
    fields = payload.get("fields")
    return str(fields.get("answer") or "") if isinstance(fields, Mapping) else ""


def _decided_by(
    question: QuestionRecord,
    stage: _Stage,
    votes: Sequence[VoteRecord],
    labels: Mapping[str, str],
) -> str:
    """Return why the labels hold; a draw leaves a facet without label."""
    if label_decision(question, stage.name):
        return DECIDED
    if len(votes) == 1:
        return ALONE
    if any(facet.name not in labels for facet in stage.facets):
        return DRAW
    given = [labels_of_vote(vote, stage.facets) for vote in votes]
    return AGREED if all(each == given[0] for each in given) else MOST


def _given(stage: _Stage, seeds: Iterable[SeedRecord]) -> Iterator[Line]:
    yield ["id", "worker", *stage.columns, "more", "adjudicated", "simulated"]
    for seed in seeds:
        for question in seed["questions"]:
            for vote in _votes(question, stage.name):
                yield _line(question, stage, vote, adjudicated="")
            decision = label_decision(question, stage.name)
            if decision is not None:
                yield _line(question, stage, decision, adjudicated=YES)


def _line(question: QuestionRecord, stage: _Stage, vote: VoteRecord, adjudicated: str) -> Line:
    labels = labels_of_vote(vote, stage.facets)
    simulated = question["synthetic"] or vote["synthetic"]
    return [
        question["id"],
        vote["worker"] or "",
        *_cells(stage, labels),
        _more(stage, vote),
        adjudicated,
        YES if simulated else "",
    ]


def _more(stage: _Stage, vote: VoteRecord) -> str:
    """Return what is written beside the labels: the words alone where there is one field."""
    known = {facet.name for facet in stage.facets}
    fields = vote["payload"].get("fields", {})
    more = {name: words for name, words in fields.items() if words and name not in known}
    if why := vote["payload"].get("why"):
        more = {"why": why}
    if len(more) < 2:
        return "".join(more.values())
    return json.dumps(more, ensure_ascii=False, sort_keys=True)
