"""Scores what a system found and what it answered, against a released file of questions.

PREDICTIONS: a TREC run (`QUERY Q0 PASSAGE RANK SCORE TAG`), or JSON: an object from question id to
its answer, or to {"passages": [best first], "answer": "…"}. A blank answer says that the documents
do not have it. GOLD: train.json, dev.json or test.json of a release.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annotation.metrics import retrieval, token_overlap
from annotation.metrics.result import Result, ScoreError, read_file
from annotation.protocols.rag.entries import relevant
from annotation.protocols.rag.official_records import LayoutError, parse
from collector.retrieval.terms import has_unparted, terms

ANSWER_GROUPS = {"all": "", "in the documents": "HasAns_", "not in the documents": "NoAns_"}
COLUMNS = ["what", "questions", "measure", "%"]
SHOWN = (
    "ndcg_cut_10",
    "recall_10",
    "recall_100",
    "recip_rank",
    "success_1",
    "success_10",
    "all_10",
)


@dataclass(frozen=True)
class Gold:
    """The answers of each question by its id, none where there is none, and what is relevant."""

    answers: Mapping[str, list[str]]
    qrels: Mapping[str, Mapping[str, int]]


@dataclass(frozen=True)
class Predictions:
    """What a system found, and what it answered; either may be empty."""

    run: Mapping[str, Mapping[str, float]]
    answers: Mapping[str, str]


def score(predictions: Path, gold: Path, options: Mapping[str, object]) -> Result:
    """Return the scores in percent, those of retrieval under trec_eval's names.

    Of answers as SQuAD 2.0's script has them; a question without an answer is right where nothing
    is answered. Raises ScoreError naming the file.
    """
    questions, given = read_gold(gold), read_predictions(predictions)
    if questions.answers.keys().isdisjoint({*given.run, *given.answers}):
        raise ScoreError(
            f"{predictions}: none of its question ids is of {gold}; give the gold they are for."
        )
    return scored(questions, given)


def scored(questions: Gold, given: Predictions) -> Result:
    """Return the scores of predictions that were read."""
    official: dict[str, float] = {}
    rows: list[list[str]] = []
    notes: list[str] = []
    if given.run:
        measured = retrieval.evaluate(questions.qrels, given.run)
        official |= {name: 100.0 * value for name, value in measured.items()}
        n = str(len(questions.qrels))
        rows += [["passages", n, name, f"{official[name]:.1f}"] for name in SHOWN]
        missing = len(questions.qrels.keys() - given.run.keys())
        if missing:
            notes.append(f"Questions without a passage in the run, counted as 0: {missing}.")
    if given.answers:
        parted = {key: [_parted(text) for text in of] for key, of in questions.answers.items()}
        said = {key: _parted(text) for key, text in given.answers.items()}
        overlap = token_overlap.evaluate_v2(parted, said)
        official |= overlap
        for name, prefix in ANSWER_GROUPS.items():
            if f"{prefix}total" in overlap:
                n = str(overlap[f"{prefix}total"])
                for measure, key in (("exact match", "exact"), ("F1", "f1")):
                    value = f"{overlap[prefix + key]:.1f}"
                    rows.append([f"answers: {name}", n, measure, value])
        missing = len(questions.answers.keys() - given.answers.keys())
        if missing:
            notes.append(f"Questions without an answer in the file, left out: {missing}.")
    return {"official": official, "groups": {}, "columns": COLUMNS, "rows": rows, "notes": notes}


def read_gold(path: Path) -> Gold:
    """Return the questions of a released file; raises ScoreError naming the file and the place."""
    try:
        whole = parse(str(path), read_file(path))
    except LayoutError as error:
        raise ScoreError(f"{error} The order is PREDICTIONS GOLD.") from None
    questions = [question for about in whole["data"] for question in about["qas"]]
    if not questions:
        raise ScoreError(f"{path}: there is no question to score in it; give a file that has some.")
    found = {each["id"]: dict.fromkeys(relevant(each), 1) for each in questions}
    return Gold(
        {each["id"]: [answer["text"] for answer in each["answers"]] for each in questions},
        {key: passages for key, passages in found.items() if passages},
    )


def check_gold(gold: Path) -> None:
    """Raise ScoreError, naming the file, unless predictions can be scored against it."""
    read_gold(gold)


def read_predictions(path: Path) -> Predictions:
    """Return a run or JSON as predictions; raises ScoreError naming the file and the place."""
    try:
        text = read_file(path).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ScoreError(f"{path}: it is no text in UTF-8; write it again.") from None
    return _json(path, text) if text.lstrip()[:1] == "{" else Predictions(_trec(path, text), {})


def _trec(path: Path, text: str) -> dict[str, dict[str, float]]:
    run: dict[str, dict[str, float]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        fields = line.split()
        if not fields:
            continue
        try:
            query, _, passage, _, value, _ = fields
            run.setdefault(query, {})[passage] = float(value)
        except ValueError:
            raise ScoreError(
                f"{path}: line {number} is not QUERY Q0 PASSAGE RANK SCORE TAG; write a TREC run, "
                "or JSON."
            ) from None
    return run


def _json(path: Path, text: str) -> Predictions:
    try:
        loaded = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ScoreError(f"{path}: it is not JSON ({error}); write it again.") from None
    run: dict[str, Mapping[str, float]] = {}
    answers: dict[str, str] = {}
    for key, value in loaded.items():
        passages, answer = _prediction(path, key, value)
        if passages is not None:
            # Equal scores would be told apart by their ids.
            run[key] = {name: float(-rank) for rank, name in enumerate(dict.fromkeys(passages))}
        if answer is not None:
            answers[key] = answer
    return Predictions(run, answers)


def _prediction(path: Path, key: str, value: Any) -> tuple[list[str] | None, str | None]:
    if isinstance(value, str):
        return None, value
    told = value if isinstance(value, dict) else {"passages": value}
    passages, answer = told.get("passages"), told.get("answer")
    fits = passages is None or (
        isinstance(passages, list) and all(isinstance(name, str) for name in passages)
    )
    if not fits or not (answer is None or isinstance(answer, str)) or not told:
        raise ScoreError(
            f"{path}: what is told of {key} must be an answer, a list of ids of passages, or "
            '{"passages": [best first], "answer": "…"}.'
        )
    return passages, answer


def _parted(text: str) -> str:
    """Return a text with blanks where its script has none, so that words can be counted."""
    return " ".join(terms(text)) if has_unparted(text) else text
