"""The official metrics, on the questions that the official conversion keeps (IIRC 4)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from annotation.metrics.drop import Answer, Score, answer_strings, global_scores, score_question
from annotation.metrics.result import Option, Result, ScoreError, read_file
from annotation.protocols.iirc.official_files import (
    NONE,
    LayoutError,
    n_linked_documents,
    numbered,
    parse,
    read_passages,
)
from annotation.protocols.iirc.parameters import defaults

LINKS, BOTH, UNANSWERABLE = "links", "links-and-type", "unanswerable"
OPTIONS: Mapping[str, Option] = {
    "by": {
        "choices": ("links", "answer-type", BOTH, UNANSWERABLE),
        "help": "break down by linked documents needed (T4) or by type of answer (T5), or by both; "
        "or tell how well it says that there is no answer (T6)",
    },
    "initial": {
        "type": int,
        "metavar": "N",
        "help": "number gold's questions from N + 1; the official dev file follows on train",
    },
}
NUMBERED_ID = re.compile(r"qid_(\d+)")


@dataclass(frozen=True)
class Gold:
    """One gold question; n_links is None where the file does not tell the evidence."""

    ids: tuple[str, ...]
    qa_pair: Mapping[str, object]
    answer_type: str
    n_links: int | None = None


def score(predictions: Path, gold: Path, options: Mapping[str, object]) -> Result:
    """Return the official global_em and global_f1 in 0..1, and groups where options["by"] asks.

    options["initial"]: the last number used before this file; when absent it is 0, or what the
    predictions' ids leave no doubt about. Raises ScoreError in one line.
    """
    try:
        answers = read_predictions(predictions)
        initial = cast(int | None, options.get("initial"))
        questions = read_gold(gold, answers, initial)
    except LayoutError as error:
        raise ScoreError(str(error)) from None
    given = [next((key for key in question.ids if key in answers), None) for question in questions]
    _check_ids(predictions, gold, answers, questions, given)
    scores = [
        score_question(question.qa_pair, None if key is None else answers[key])
        for question, key in zip(questions, given, strict=True)
    ]
    by = cast(str | None, options.get("by"))
    n_unknown = len(answers.keys() - set(given))
    notes = _notes(n_missing=given.count(None), n_unknown=n_unknown)
    if by == UNANSWERABLE:
        said = [None if key is None else answers[key] for key in given]
        return _unanswerable(questions, said, scores, notes)
    groups = _groups(gold, by, questions, scores)
    rows = {"all": scores, **groups}
    return {
        "official": global_scores(scores),
        "groups": {name: global_scores(group) for name, group in groups.items()},
        "columns": [by or "", "questions", "exact match %", "F1 %"],
        "rows": [_row(name, group) for name, group in rows.items()],
        "notes": notes,
    }


def read_predictions(path: Path) -> dict[str, Answer]:
    """Return the predictions by query id; raises ScoreError or LayoutError naming the file."""
    loaded = parse(str(path), read_file(path))
    if not isinstance(loaded, dict):
        raise ScoreError(
            f"{path}: predictions must be an object from query id to answer; "
            "the order is PREDICTIONS GOLD."
        )
    for key, answer in loaded.items():
        listed = answer if isinstance(answer, list) else [answer]
        if not all(isinstance(text, str) for text in listed):
            raise ScoreError(f"{path}: the answer to {key} must be a string or a list of strings.")
    return loaded


def check_gold(gold: Path) -> None:
    """Raise ScoreError unless this is gold."""
    try:
        read_gold(gold, {}, None)
    except LayoutError as error:
        raise ScoreError(str(error)) from None


def read_gold(path: Path, answers: Mapping[str, Answer], initial: int | None) -> list[Gold]:
    """Return the questions of either layout; raises ScoreError or LayoutError naming the file."""
    content = read_file(path)
    loaded = parse(str(path), content)
    try:
        if isinstance(loaded, dict):
            found = _drop_gold(loaded)
        else:
            read_passages(str(path), content)
            found = _official_gold(path, loaded, answers, initial)
    except (KeyError, TypeError, AttributeError):
        raise ScoreError(
            f"{path}: gold must be a list of passages with questions and answers, or DROP style "
            "with qa_pairs; the order is PREDICTIONS GOLD."
        ) from None
    if not found:
        raise ScoreError(f"{path}: there is no question to score in it; give a fold's file.")
    return found


def _drop_gold(loaded: Mapping[str, Any]) -> list[Gold]:
    """Return the questions of a file in DROP style."""
    return [
        Gold((pair["query_id"],), pair, answer_strings(pair["answer"])[1])
        for passage in loaded.values()
        for pair in passage["qa_pairs"]
    ]


def _official_gold(
    path: Path, passages: list[Any], answers: Mapping[str, Answer], initial: int | None
) -> list[Gold]:
    """Return the questions of a file in the official layout under both of their ids."""
    try:
        items = list(numbered(passages))
    except LayoutError as error:
        raise ScoreError(f"{path}: {error}.") from None
    if initial is None:
        initial = _initial_of(path, answers, len(items))
    return [
        Gold(
            ids=tuple(filter(None, (f"qid_{initial + item.number}", item.question.get("qid")))),
            qa_pair={"answer": item.answer},
            answer_type=item.question["answer"]["type"],
            n_links=n_linked_documents(item.question),
        )
        for item in items
    ]


def _initial_of(path: Path, answers: Mapping[str, Answer], n: int) -> int:
    """Return where numbering starts: 0, unless the ids fit n questions elsewhere and only there.

    Raises ScoreError where they fit in several places.
    """
    matches = [NUMBERED_ID.fullmatch(key) for key in answers]
    numbers = [int(match.group(1)) for match in matches if match]
    if not numbers or min(numbers) <= n or max(numbers) - min(numbers) >= n:
        return 0
    if max(numbers) - min(numbers) == n - 1:
        return min(numbers) - 1
    raise ScoreError(
        f"{path}: its {n} questions can be numbered in several ways to meet qid_{min(numbers)} … "
        f"qid_{max(numbers)}; give --initial N, the last number used before this file."
    )


def _check_ids(
    predictions: Path,
    gold: Path,
    answers: Mapping[str, Answer],
    questions: list[Gold],
    given: list[str | None],
) -> None:
    """Raise ScoreError when there are predictions and none is for a question of gold."""
    if answers and not any(given):
        raise ScoreError(
            f"{predictions}: none of its {len(answers)} ids (such as {next(iter(answers))}) is of "
            f"{gold} (such as {questions[0].ids[0]}); give --initial N or the gold file they are "
            "for."
        )


def _groups(
    path: Path, by: str | None, questions: list[Gold], scores: list[Score]
) -> dict[str, list[Score]]:
    """Return the scores by group, groups in ascending order; {} when no breakdown is asked."""
    if by is None:
        return {}
    if by == BOTH:
        return {
            **_groups(path, LINKS, questions, scores),
            **_groups(path, "answer-type", questions, scores),
        }
    if by == LINKS and any(question.n_links is None for question in questions):
        raise ScoreError(f"{path}: DROP style has no links; give gold in the official layout.")
    names = [_group_of(question, by) for question in questions]
    return {
        group: [each for name, each in zip(names, scores, strict=True) if name == group]
        for group in sorted(set(names))
    }


def _group_of(question: Gold, by: str) -> str:
    """Return the question's group: its answer's type, or 0, 1, 2, 3 or 4+ linked documents."""
    if by == "answer-type":
        return question.answer_type
    return links_group(question.n_links or 0, defaults().report.most_links)


def links_group(n_links: int, most: int) -> str:
    """Return the name of the group of questions that need so many linked documents."""
    return f"{most}+" if n_links >= most else str(n_links)


def _unanswerable(
    questions: list[Gold], said: list[Answer | None], scores: list[Score], notes: list[str]
) -> Result:
    """Return precision, recall and F1 of saying that there is no answer, beside the totals."""
    gold = [question.answer_type == NONE for question in questions]
    none = [says_none(answer) for answer in said]
    both = sum(right and told for right, told in zip(gold, none, strict=True))
    found = precision_recall(both, sum(none), sum(gold))
    rows = {
        "these predictions": found,
        "always no answer": precision_recall(sum(gold), len(gold), sum(gold)),
    }
    return {
        "official": global_scores(scores),
        "groups": {},
        "beside": {f"{UNANSWERABLE}_{name}": value for name, value in found.items()},
        "columns": ["detector", *(f"{name} %" for name in found)],
        "rows": [
            [name, *(f"{100 * value:.2f}" for value in of.values())] for name, of in rows.items()
        ],
        "notes": notes,
    }


def says_none(answer: Answer | None) -> bool:
    """Return whether a prediction says that there is no answer."""
    words = [answer] if isinstance(answer, str) else list(answer or ())
    return [word.strip().lower() for word in words] == [NONE]


def precision_recall(both: int, said: int, gold: int) -> dict[str, float]:
    """Return precision, recall and F1 in 0..1 by name, 0 where there is nothing to divide by."""
    precision, recall = (both / n if n else 0.0 for n in (said, gold))
    total = precision + recall
    f1 = 2 * precision * recall / total if total else 0.0
    return {"precision": precision, "recall": recall, "f1": f1}


def _row(name: str, scores: list[Score]) -> list[str]:
    """Return one line of the table, in percent as the official script prints."""
    means = global_scores(scores)
    percents = [f"{100 * means[key]:.2f}" for key in ("global_em", "global_f1")]
    return [name, str(len(scores)), *percents]


def _notes(n_missing: int, n_unknown: int) -> list[str]:
    """Return what a reader of the figures must know about missing and unknown ids."""
    notes = {
        "Questions without a prediction, counted as 0": n_missing,
        "Predictions with ids that gold does not have, ignored": n_unknown,
    }
    return [f"{sentence}: {n}." for sentence, n in notes.items() if n]
