"""The official metrics: word F1 over several references, human equivalence, dialog acts (QuAC 4.1).

Predictions: JSON lines, one dialog each, with the parallel lists qid, best_span_str, yesno and
followup. Gold: a file in the v0.2 layout.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, TypedDict, cast

from annotation.metrics.result import Option, Result, ScoreError, read_file
from annotation.metrics.summation import plain_sum
from annotation.protocols.quac.chunks import GROUPS, standard
from annotation.protocols.quac.parameters import defaults
from annotation.protocols.quac.turns import (
    CANNOT_ANSWER,
    accuracies,
    counted,
    human_f1,
    read_labels,
    read_turns,
    system_f1,
)

# Its three curves at once: each question is in a group of each.
FIGURE_7, CURVES = "figure-7", ("turn", "distance", "answer-length")
OPTIONS: Mapping[str, Option] = {
    "by": {
        "choices": (*GROUPS, FIGURE_7),
        "help": "break down by turn, chunks from the previous answer, tokens of the answer, or by "
        f"all three ({FIGURE_7}); or by what the teacher said of following up before (6)",
    },
    "votes": {
        "type": Path,
        "metavar": "FILE",
        "help": "a release's votes.parquet: dialog acts by everybody's majority too (4.1, 5.2)",
    },
    "min-f1": {
        "type": float,
        "metavar": "F1",
        "help": "leave out questions whose human F1 is below this (default: the protocol's "
        "agreement.min_human_f1)",
    },
}
GROUP_COLUMNS = ("questions", "F1 %", "human F1 %", "HEQ-Q %")
FIELDS = ("qid", "best_span_str", "yesno", "followup")
# What OPTIONS make of what was typed.
_Options = TypedDict(
    "_Options", {"by": str | None, "votes": Path | None, "min-f1": float | None}, total=False
)


@dataclass(frozen=True)
class Prediction:
    """A system's answer to one question, with its two dialog acts."""

    span: str
    yesno: str
    followup: str


@dataclass(frozen=True)
class Gold:
    """One question of a gold file; references: those it is scored against."""

    qid: str
    dialog: str
    references: tuple[str, ...]
    yesno: str
    followup: str


@dataclass(frozen=True)
class Score:
    """How a prediction did on one question; `kept` tells that people agree enough on it."""

    dialog: str
    f1: float
    human: float
    yesno: bool
    followup: bool
    unanswerable: bool
    kept: bool
    missing: bool

    @property
    def equals_human(self) -> bool:
        """Return whether the system does at least as well as people; a missing one never does."""
        return not self.missing and self.f1 >= self.human


def score(predictions: Path, gold: Path, options: Mapping[str, object]) -> Result:
    """Return the official keys in percent; options["min-f1"] is the filter on human F1.

    options["votes"], a release's votes, adds the paper's majority beside them.

    Where no question is unanswerable the official script stops with a division by zero; here
    unanswerable_acc is left out and a note says so. Raises ScoreError in one line.
    """
    questions, given = read_gold(gold), read_predictions(predictions)
    chosen = cast(_Options, options)
    scores = list(score_all(questions, given, chosen.get("min-f1")))
    official, by = totals(scores), chosen.get("by")
    if all(each.missing for each in scores):
        raise ScoreError(
            f"{predictions}: none of its question ids is of {gold}; give the gold they are for."
        )
    groups = _broken_down(gold, by, questions, scores)
    beside = _by_majority(chosen.get("votes"), questions, scores, given)
    rows = [[name, f"{value:.1f}"] for name, value in {**official, **beside}.items()]
    if by is not None:
        rows = [_row(name, group) for name, group in {"all": scores, **groups}.items()]
    return {
        "official": official,
        # A group takes dialogs to pieces, so whole dialogs say nothing in it.
        "groups": {
            name: {key: value for key, value in totals(group).items() if key != "DHEQ"}
            for name, group in groups.items()
        },
        "beside": beside,
        "columns": ["measure", "percent"] if by is None else [by, *GROUP_COLUMNS],
        "rows": rows,
        "notes": [*_in_all(by, {**official, **beside}), *_notes(scores)],
    }


def _by_majority(
    votes: Path | None,
    questions: Sequence[Gold],
    scores: Sequence[Score],
    given: Mapping[str, Prediction],
) -> dict[str, float]:
    """Return the dialog acts' accuracy by majority; nothing where no votes were given."""
    if votes is None:
        return {}
    kept = [question.qid for question, score in zip(questions, scores, strict=True) if score.kept]
    predicted = {
        "yes/no": {qid: prediction.yesno for qid, prediction in given.items()},
        "followup": {qid: prediction.followup for qid, prediction in given.items()},
    }
    return accuracies(kept, predicted, read_labels(votes))


def score_all(
    questions: Iterable[Gold], predictions: Mapping[str, Prediction], min_f1: float | None = None
) -> Iterator[Score]:
    """Yield each question's score, in the order of gold.

    A question without prediction is kept whatever its human F1: the official script counts it
    as wrong before it looks at that.
    """
    threshold = threshold_of(min_f1)
    for question in questions:
        given = predictions.get(question.qid)
        human = human_f1(question.references)
        yield Score(
            dialog=question.dialog,
            f1=system_f1(given.span, question.references) if given else 0.0,
            human=human,
            yesno=given is not None and given.yesno == question.yesno,
            followup=given is not None and given.followup == question.followup,
            unanswerable=question.references == (CANNOT_ANSWER,),
            kept=given is None or human >= threshold,
            missing=given is None,
        )


def threshold_of(min_f1: float | None) -> float:
    """Return the least human F1 that is scored: what is given, or the protocol's own."""
    return defaults().agreement.min_human_f1 if min_f1 is None else min_f1


def totals(scores: Sequence[Score]) -> dict[str, float]:
    """Return the official script's keys in percent; a key without any question is left out."""
    kept = [each for each in scores if each.kept]
    dialogs = [list(group) for _, group in groupby(scores, key=lambda each: each.dialog)]
    # A dialog whose questions are all left out counts as a success: nothing in it failed.
    whole = [all(each.equals_human for each in dialog if each.kept) for dialog in dialogs]
    columns: dict[str, list[float]] = {
        "unfiltered_f1": [each.f1 for each in scores],
        "f1": [each.f1 for each in kept],
        "HEQ": [float(each.equals_human) for each in kept],
        "DHEQ": [float(each) for each in whole],
        "yes/no": [float(each.yesno) for each in kept],
        "followup": [float(each.followup) for each in kept],
        "unanswerable_acc": [each.f1 for each in kept if each.unanswerable],
    }
    return {
        name: 100 * plain_sum(values) / len(values) for name, values in columns.items() if values
    }


def _in_all(by: str | None, measures: Mapping[str, float]) -> list[str]:
    """Return what the curves' own table leaves out, in a line."""
    if by != FIGURE_7:
        return []
    return ["In all: " + ", ".join(f"{name} {value:.1f}" for name, value in measures.items()) + "."]


def _broken_down(
    path: Path, by: str | None, questions: Sequence[Gold], scores: Sequence[Score]
) -> dict[str, list[Score]]:
    """Return the scores by group, none where nothing is broken down."""
    if by is None:
        return {}
    if by != FIGURE_7:
        return _groups(path, by, questions, scores)
    return {
        f"{curve} {name}": group
        for curve in CURVES
        for name, group in _groups(path, curve, questions, scores).items()
    }


def _groups(
    path: Path, by: str, questions: Sequence[Gold], scores: Sequence[Score]
) -> dict[str, list[Score]]:
    """Return the scores by group, groups in their order; raises ScoreError naming the file."""
    chunks = standard()
    places = {turn.qid: GROUPS[by](turn, chunks) for turn in read_turns(path)}
    found: dict[tuple[int, str], list[Score]] = {}
    for question, score in zip(questions, scores, strict=True):
        group = places.get(question.qid)
        if group is not None:
            found.setdefault(group, []).append(score)
    return {name: group for (_, name), group in sorted(found.items(), key=lambda item: item[0])}


def _row(name: str, scores: Sequence[Score]) -> list[str]:
    """Return one line of a breakdown: the questions scored, and how system and people do."""
    kept = [each for each in scores if each.kept]
    sums = [
        plain_sum(each.f1 for each in kept),
        plain_sum(each.human for each in kept),
        plain_sum(each.equals_human for each in kept),
    ]
    return [
        name,
        str(len(kept)),
        *(f"{100 * part / len(kept):.1f}" if kept else "–" for part in sums),
    ]


def check_gold(gold: Path) -> None:
    """Raise ScoreError unless this is gold."""
    read_gold(gold)


def read_gold(path: Path) -> list[Gold]:
    """Return the questions of a v0.2 file in order; raises ScoreError naming the file."""
    loaded = _parsed(path, read_file(path))
    try:
        return [
            Gold(
                qid=question["id"],
                dialog=dialog["id"],
                references=tuple(counted([answer["text"] for answer in question["answers"]])),
                yesno=question["yesno"],
                followup=question["followup"],
            )
            for section in loaded["data"]
            for dialog in section["paragraphs"]
            for question in dialog["qas"]
        ]
    except (KeyError, TypeError):
        raise ScoreError(
            f"{path}: gold must be in the v0.2 layout (data, paragraphs, qas with answers, yesno "
            "and followup); the order is PREDICTIONS GOLD."
        ) from None


def read_predictions(path: Path) -> dict[str, Prediction]:
    """Return the predictions by question id; raises ScoreError naming the line.

    As in the official script a line belongs to the dialog of its first id, and a later line of
    the same dialog replaces an earlier one.
    """
    dialogs: dict[str, dict[str, Prediction]] = {}
    # Only a line feed ends a line: a span may hold other separators, such as U+2028.
    lines = read_file(path).decode("utf-8", "replace").split("\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        place = f"{path}, line {number}"
        loaded = _parsed(place, line)
        if not isinstance(loaded, dict) or not all(
            isinstance(loaded.get(name), list) for name in FIELDS
        ):
            raise ScoreError(f"{place}: give an object with the lists {', '.join(FIELDS)}.")
        rows = list(zip(*(loaded[name] for name in FIELDS), strict=False))
        if not all(isinstance(value, str) for row in rows for value in row):
            raise ScoreError(f"{place}: the lists must hold strings.")
        if rows:
            dialogs[dialog_of(rows[0][0])] = {
                qid: Prediction(span, yesno, followup) for qid, span, yesno, followup in rows
            }
    return {
        qid: prediction
        for dialog, given in dialogs.items()
        for qid, prediction in given.items()
        if dialog_of(qid) == dialog
    }


def prediction_line(qids: Sequence[str], given: Sequence[Prediction]) -> str:
    """Return a dialog's line of the official predictions."""
    line = {
        "qid": list(qids),
        "best_span_str": [each.span for each in given],
        "yesno": [each.yesno for each in given],
        "followup": [each.followup for each in given],
    }
    return json.dumps(line, ensure_ascii=False) + "\n"


def dialog_of(qid: str) -> str:
    """Return the id of the question's dialog."""
    return qid.partition("_q#")[0]


def _parsed(place: Path | str, content: bytes | str) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ScoreError(
            f"{place}: it is not JSON ({error}); give the file as it was written."
        ) from None


def _notes(scores: Sequence[Score]) -> list[str]:
    """Return what a reader of the figures must know."""
    n_missing = sum(each.missing for each in scores)
    n_left_out = sum(not each.kept for each in scores)
    notes = []
    if n_missing:
        notes.append(f"Questions without a prediction, counted as 0: {n_missing}.")
    if n_left_out:
        notes.append(f"Questions left out because people agree too little: {n_left_out}.")
    if not any(each.unanswerable and each.kept for each in scores):
        notes.append(
            "No question is unanswerable, so there is no unanswerable_acc; the official script "
            "stops there."
        )
    return notes
