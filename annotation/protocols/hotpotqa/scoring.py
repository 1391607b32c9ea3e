"""The official metrics of files: answers, supporting facts, and both at once (HotpotQA 5.2).

Predictions: {"answer": {id: text}, "sp": {id: [[title, sentence], …]}}. Gold: a list of questions
in the official layout.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from annotation.metrics.result import Option, Result, ScoreError, read_file
from annotation.metrics.supporting_facts import (
    Score,
    answer_measure,
    facts_measure,
    joint_measure,
    totals,
)

OPTIONS: Mapping[str, Option] = {
    "by": {
        "choices": ("type", "level"),
        "help": "break down by type of question, bridge or comparison (T6), or by level",
    },
}
COLUMNS = ("questions", "EM %", "F1 %", "facts EM %", "facts F1 %", "joint EM %", "joint F1 %")
SHOWN = ("em", "f1", "sp_em", "sp_f1", "joint_em", "joint_f1")
UNKNOWN = "not told"
Fact = tuple[Any, ...]


@dataclass(frozen=True)
class Predictions:
    """Answers and supporting facts by question id."""

    answers: Mapping[str, str]
    facts: Mapping[str, Sequence[Fact]]


@dataclass(frozen=True)
class Gold:
    """One question of a gold file."""

    id: str
    answer: str
    facts: tuple[Fact, ...]
    type: str
    level: str


def score(predictions: Path, gold: Path, options: Mapping[str, object]) -> Result:
    """Return the official script's twelve keys, means over all of gold from 0 to 1.

    A question without a prediction counts 0, as does the joint score where one part is missing.
    Raises ScoreError in one line, where the official script stops with an exception too.
    """
    given, questions = read_predictions(predictions), read_gold(gold)
    told = given.answers.keys() | given.facts.keys()
    if told and told.isdisjoint(question.id for question in questions):
        raise ScoreError(
            f"{predictions}: none of its question ids is of {gold}; give the gold they are for."
        )
    scores = list(score_all(questions, given))
    by = cast(str | None, options.get("by"))
    groups = {} if by is None else _groups(gold, by, questions, scores)
    return {
        "official": totals(scores),
        "groups": {name: totals(group) for name, group in groups.items()},
        "columns": [by or "", *COLUMNS],
        "rows": [_row(name, group) for name, group in {"all": scores, **groups}.items()],
        "notes": _notes(questions, given),
    }


def score_all(questions: Sequence[Gold], given: Predictions) -> Iterator[Score]:
    """Yield the score of each question, in the order of gold."""
    for question in questions:
        answer, facts = given.answers.get(question.id), given.facts.get(question.id)
        answered = None if answer is None else answer_measure(answer, question.answer)
        proved = None if facts is None else facts_measure(facts, question.facts)
        nothing = Score()
        yield Score(
            answered or nothing.answer,
            proved or nothing.facts,
            joint_measure(answered, proved) if answered and proved else nothing.joint,
        )


def read_predictions(path: Path) -> Predictions:
    """Return the predictions; raises ScoreError naming the file, and the id where one is wrong."""
    loaded = _parsed(path)
    if not isinstance(loaded, dict) or not all(
        isinstance(loaded.get(name), dict) for name in ("answer", "sp")
    ):
        raise ScoreError(
            f'{path}: predictions must be an object with "answer" and "sp", each by question id; '
            "the order is PREDICTIONS GOLD."
        )
    for key, answer in loaded["answer"].items():
        if not isinstance(answer, str):
            raise ScoreError(f"{path}: the answer to {key} must be a text, not {answer!r}.")
    facts = {key: _facts(listed, f"{path}: {key}") for key, listed in loaded["sp"].items()}
    return Predictions(loaded["answer"], facts)


def check_gold(gold: Path) -> None:
    """Raise ScoreError unless this is gold."""
    read_gold(gold)


def read_gold(path: Path) -> list[Gold]:
    """Return the questions of an official file in order; raises ScoreError naming the file."""
    loaded = _parsed(path)
    if not isinstance(loaded, list) or not all(
        isinstance(item, dict) and isinstance(item.get("_id"), str) for item in loaded
    ):
        raise ScoreError(
            f"{path}: gold must be a list of questions with _id, answer and supporting_facts; "
            "the order is PREDICTIONS GOLD."
        )
    if not loaded:
        raise ScoreError(f"{path}: there is no question to score in it; give a file that has some.")
    return [_gold(item, path) for item in loaded]


def _gold(item: Mapping[str, Any], path: Path) -> Gold:
    key = item["_id"]
    if not isinstance(item.get("answer"), str) or "supporting_facts" not in item:
        raise ScoreError(
            f"{path}: {key} has no answer or no supporting_facts. Those of a test set are not "
            "published: give the file of that name in the private folder beside the release."
        )
    facts = _facts(item["supporting_facts"], f"{path}: {key}")
    kinds = (str(item.get(name) or UNKNOWN) for name in ("type", "level"))
    return Gold(key, item["answer"], tuple(facts), *kinds)


def _facts(listed: Any, where: str) -> list[Fact]:
    """Return [title, sentence] pairs; what has more or fewer parts is kept and matches nothing."""
    try:
        facts = [tuple(fact) for fact in listed]
        # What cannot be in a set, such as a list in a fact, is no fact.
        set(facts)
    except TypeError:
        raise ScoreError(f"{where}: facts must be a list of [title, sentence number].") from None
    return facts


def _groups(
    path: Path, by: str, questions: Sequence[Gold], scores: Sequence[Score]
) -> dict[str, list[Score]]:
    """Return the scores by group, by name; raises ScoreError where gold tells none."""
    found: dict[str, list[Score]] = {}
    for question, each in zip(questions, scores, strict=True):
        found.setdefault(getattr(question, by), []).append(each)
    if found.keys() == {UNKNOWN}:
        raise ScoreError(f"{path}: no question tells its {by}; score without --by.")
    return dict(sorted(found.items()))


def _row(name: str, scores: Sequence[Score]) -> list[str]:
    means = totals(scores)
    return [name, str(len(scores)), *(f"{100 * means[key]:.2f}" for key in SHOWN)]


def _notes(questions: Sequence[Gold], given: Predictions) -> list[str]:
    """Return what a reader of the figures must know."""
    missing = {
        "answer": sum(question.id not in given.answers for question in questions),
        "facts": sum(question.id not in given.facts for question in questions),
    }
    return [
        f"Questions without predicted {name}, counted as 0: {number}."
        for name, number in missing.items()
        if number
    ]


def _parsed(path: Path) -> Any:
    try:
        return json.loads(read_file(path))
    except (ValueError, RecursionError) as error:
        raise ScoreError(
            f"{path}: it is not JSON ({error}); give the file as it was written."
        ) from None
