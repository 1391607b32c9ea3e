"""The official metrics of files: exact match and F1, with and without answer, and the threshold.

Predictions: an object from question id to text, "" for no answer. Gold: a file in the official
layout. A gold file that calls itself version 1 is scored as the script of version 1.1 does.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypedDict, cast

from annotation.metrics import token_overlap
from annotation.metrics.result import Option, Result, ScoreError, read_file
from annotation.protocols.squad.official_records import LayoutError, parse
from collector.retrieval.terms import has_unparted, parted

OPTIONS: Mapping[str, Option] = {
    "na-prob-file": {
        "type": Path,
        "metavar": "FILE",
        "help": "how probable it is that a question has no answer, by its id: the best threshold "
        "is searched too",
    },
    "na-prob-thresh": {
        "type": float,
        "metavar": "SHARE",
        "help": "above it no answer is taken to be given (default 1, which takes none)",
    },
}
GROUPS = {"all": "", "answered by the passage": "HasAns_", "not answered": "NoAns_"}
# What OPTIONS make of what was typed.
_Options = TypedDict(
    "_Options", {"na-prob-file": Path | None, "na-prob-thresh": float | None}, total=False
)


@dataclass(frozen=True)
class Gold:
    """The answers to each question by its id, none where there is none; and for which script."""

    answers: Mapping[str, list[str]]
    is_first_version: bool


def score(predictions: Path, gold: Path, options: Mapping[str, object]) -> Result:
    """Return the official script's own keys, in percent; raises ScoreError naming the file."""
    questions, given = read_gold(gold), read_predictions(predictions)
    texts = [text for answers in questions.answers.values() for text in answers]
    if sum(map(has_unparted, texts)) > len(texts) / 2:
        # The script would take a whole answer for one word; elsewhere it counts as it always has.
        questions = replace(
            questions,
            answers={key: [*map(parted, answers)] for key, answers in questions.answers.items()},
        )
        given = {key: parted(text) for key, text in given.items()}
    chosen = cast(_Options, options)
    if given.keys().isdisjoint(questions.answers):
        raise ScoreError(
            f"{predictions}: none of its question ids is of {gold}; give the gold they are for."
        )
    if questions.is_first_version:
        if chosen.get("na-prob-file") or chosen.get("na-prob-thresh") is not None:
            raise ScoreError(f"{gold}: in version 1 every question has an answer: no threshold.")
        return _first_version(questions, given, gold)
    file = chosen.get("na-prob-file")
    probable = None if file is None else _probabilities(file, questions, given)
    official = _second_version(questions, given, probable, chosen.get("na-prob-thresh"))
    return {
        "official": official,
        "groups": {},
        "columns": ["questions of which", "number", "EM %", "F1 %"],
        "rows": [
            [name, *_cells(official, prefix)]
            for name, prefix in GROUPS.items()
            if f"{prefix}total" in official
        ],
        "notes": _notes(questions, given, official),
    }


def read_gold(path: Path) -> Gold:
    """Return the questions of an official file; raises ScoreError naming the file and the place.

    Of two questions with one id the later one counts, as in the scripts.
    """
    try:
        whole = parse(str(path), read_file(path))
    except LayoutError as error:
        raise ScoreError(f"{error} The order is PREDICTIONS GOLD.") from None
    answers = {
        question["id"]: [answer["text"] for answer in question["answers"]]
        for article in whole["data"]
        for paragraph in article["paragraphs"]
        for question in paragraph["qas"]
    }
    if not answers:
        raise ScoreError(f"{path}: there is no question to score in it; give a file that has some.")
    return Gold(answers, str(whole.get("version", "")).lstrip("v").startswith("1"))


def read_predictions(path: Path) -> dict[str, str]:
    """Return the predictions by question id; raises ScoreError naming the file, and the id."""
    loaded = _object(path, "predictions must be an object from question id to text")
    for key, text in loaded.items():
        if not isinstance(text, str):
            raise ScoreError(f"{path}: the answer to {key} must be a text, not {text!r}.")
    return cast(dict[str, str], loaded)


def _first_version(questions: Gold, given: Mapping[str, str], gold: Path) -> Result:
    try:
        official = token_overlap.evaluate_v1(questions.answers, given)
    except ValueError as error:
        raise ScoreError(f"{gold}: {error}") from None
    missing = len(questions.answers.keys() - given.keys())
    row = [len(questions.answers), official["exact_match"], official["f1"]]
    return {
        "official": official,
        "groups": {},
        "columns": ["questions of which", "number", "EM %", "F1 %"],
        "rows": [["all", str(row[0]), *(f"{cell:.1f}" for cell in row[1:])]],
        "notes": [f"Questions without a prediction, counted as 0: {missing}."] if missing else [],
    }


def _second_version(
    questions: Gold,
    given: Mapping[str, str],
    probable: Mapping[str, float] | None,
    threshold: float | None,
) -> dict[str, float]:
    """Return the keys of the script of version 2.0; with probabilities the best thresholds too."""
    limit = 1.0 if threshold is None else threshold
    refused = {key for key in given if (probable or {}).get(key, 0.0) > limit}
    official = token_overlap.evaluate_v2(questions.answers, given, refused)
    if probable is None:
        return official
    has_answer = {key: bool(answers) for key, answers in questions.answers.items()}
    scored = {
        key: token_overlap.score_v2(given[key], answers)
        for key, answers in questions.answers.items()
        if key in given
    }
    for place, name in enumerate(("exact", "f1")):
        scores = {key: pair[place] for key, pair in scored.items()}
        best, at = token_overlap.best_threshold(scores, given, probable, has_answer)
        official |= {f"best_{name}": best, f"best_{name}_thresh": at}
    return official


def _probabilities(path: Path, questions: Gold, given: Mapping[str, str]) -> dict[str, float]:
    loaded = _object(path, "give an object from question id to a number from 0 to 1")
    for key, value in loaded.items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ScoreError(f"{path}: what is told of {key} must be a number, not {value!r}.")
    missing = sorted(key for key in questions.answers if key in given and key not in loaded)
    if missing:
        raise ScoreError(f"{path}: it does not tell of {missing[0]}: give every question's.")
    return cast(dict[str, float], loaded)


def _object(path: Path, request: str) -> dict[str, Any]:
    try:
        loaded = json.loads(read_file(path))
    except (ValueError, RecursionError) as error:
        raise ScoreError(f"{path}: it is not JSON ({error}); {request}.") from None
    if not isinstance(loaded, dict):
        raise ScoreError(f"{path}: {request}; the order is PREDICTIONS GOLD.")
    return loaded


def _cells(official: Mapping[str, float], prefix: str) -> list[str]:
    measures = (official[f"{prefix}exact"], official[f"{prefix}f1"])
    return [str(official[f"{prefix}total"]), *(f"{value:.1f}" for value in measures)]


def _notes(questions: Gold, given: Mapping[str, str], official: Mapping[str, float]) -> list[str]:
    notes = []
    missing = len(questions.answers.keys() - given.keys())
    if missing:
        notes.append(f"Questions without a prediction, left out as the script does: {missing}.")
    if "best_f1" in official:
        notes.append(
            f"Best with a threshold: EM {official['best_exact']:.1f} at "
            f"{official['best_exact_thresh']:g}, F1 {official['best_f1']:.1f} at "
            f"{official['best_f1_thresh']:g}."
        )
    return notes
