"""The DROP evaluator: numeracy-aware F1 over sets of spans, in its two published variants.

`NONE_AWARE` is the evaluator extended by unanswerable questions (an answer with neither number,
spans nor date is the string "none"); `ALLENNLP` is the one of the DROP paper's own library.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any

from annotation.metrics.summation import numpy_mean, numpy_round
from annotation.metrics.token_overlap import ARTICLE, WITHOUT_PUNCTUATION

SEPARATOR = re.compile("[ -]")
Answer = str | Sequence[str]
Bag = frozenset[str]


class Variant(StrEnum):
    """Which of the published evaluators to follow where they differ."""

    NONE_AWARE = "none-aware"
    ALLENNLP = "allennlp"


@dataclass(frozen=True)
class Score:
    """One question's result: exact match and F1 in 0..1, and the type of the gold answer met."""

    em: float
    f1: float
    type: str | None


def is_number(token: str) -> bool:
    """Return whether Python reads `token` as a float, as "nan" and "1_000" are read."""
    try:
        float(token)
    except ValueError:
        return False
    return True


@lru_cache(maxsize=65536)
def normalise(text: str) -> str:
    """Return `text` normalised token by token, numbers as Python floats ("1,000" as "1000.0")."""
    parts = (_normalise_token(token) for token in SEPARATOR.split(text))
    return " ".join(part for part in parts if part)


def exact_match(predicted: Answer, gold: Answer) -> float:
    """Return 1.0 when both have the same set of normalised spans and equally many spans."""
    left, right = _normalised(predicted), _normalised(gold)
    return float(len(left) == len(right) and set(left) == set(right))


def f1(predicted: Answer, gold: Answer) -> float:
    """Return the F1 of the best one-to-one alignment of spans, rounded to two decimals.

    The sum of the aligned spans is divided by the larger number of spans; NaN where both sides
    have no span at all, as in the official code.
    """
    gold_bags, predicted_bags = _bags(gold), _bags(predicted)
    if not gold_bags and not predicted_bags:
        return float("nan")
    aligned = align([[bag_f1(mine, theirs) for mine in predicted_bags] for theirs in gold_bags])
    padding = [0.0] * (max(len(gold_bags), len(predicted_bags)) - len(aligned))
    return numpy_round(numpy_mean(aligned + padding))


def metrics(predicted: Answer, gold: Answer) -> tuple[float, float]:
    """Return (exact match, F1) of one prediction against one gold answer."""
    return exact_match(predicted, gold), f1(predicted, gold)


def bag_f1(predicted: Bag, gold: Bag) -> float:
    """Return the F1 of two sets of tokens; 0.0 where gold has numbers and none is shared.

    An empty side has precision (or recall) 1, so two empty bags score 1.0.
    """
    gold_numbers = {token for token in gold if is_number(token)}
    if gold_numbers and gold_numbers.isdisjoint(predicted):
        return 0.0
    n_shared = len(gold & predicted)
    precision = n_shared / len(predicted) if predicted else 1.0
    recall = n_shared / len(gold) if gold else 1.0
    if precision == recall == 0.0:
        return 0.0
    return (2 * precision * recall) / (precision + recall)


def align(scores: list[list[float]]) -> list[float]:
    """Return per row its score in the assignment of rows to columns with the largest sum."""
    if not scores or not scores[0]:
        return [0.0] * len(scores)
    if len(scores) == 1:
        return [max(scores[0])]
    if len(scores[0]) == 1:
        best = max(range(len(scores)), key=lambda row: scores[row][0])
        return [scores[row][0] if row == best else 0.0 for row in range(len(scores))]
    if len(scores) == len(scores[0]) == 2:
        (a, b), (c, d) = scores
        return [a, d] if a + d >= b + c else [b, c]
    from scipy.optimize import linear_sum_assignment

    aligned = [0.0] * len(scores)
    for row, column in zip(*linear_sum_assignment(scores, maximize=True), strict=True):
        aligned[row] = scores[row][column]
    return aligned


def answer_strings(
    answer: Mapping[str, Any], variant: Variant = Variant.NONE_AWARE
) -> tuple[tuple[str, ...], str]:
    """Return the gold strings and the type of a DROP answer: the first of number, spans, date.

    Raises ValueError under ALLENNLP for an answer with none of the three keys filled or present.
    """
    if answer.get("number"):
        return (str(answer["number"]),), "number"
    if answer.get("spans"):
        spans = tuple(answer["spans"])
        return spans, "span" if len(spans) == 1 else "spans"
    date = answer.get("date")
    if date is not None and (variant is Variant.ALLENNLP or any(date.values())):
        return (f"{date['day']} {date['month']} {date['year']}",), "date"
    if variant is Variant.ALLENNLP:
        raise ValueError("The answer has neither number, spans nor date: add one of them.")
    return ("none",), "none"


def score_question(
    qa_pair: Mapping[str, Any],
    prediction: Answer | None,
    variant: Variant = Variant.NONE_AWARE,
) -> Score:
    """Return the best exact match and the best F1 over the answer and the validated answers.

    `prediction` None means that there is none: 0 and 0. Gold answers whose first string is blank
    are passed over. The type is that of the last gold answer at the running maximum of exact
    match or F1 (NONE_AWARE) or of both (ALLENNLP); None where no gold answer counted.
    """
    if prediction is None:
        return Score(0.0, 0.0, answer_strings(qa_pair["answer"], variant)[1])
    reached = any if variant is Variant.NONE_AWARE else all
    best_em, best_f1, best_type = 0.0, 0.0, None
    for answer in [qa_pair["answer"], *(qa_pair.get("validated_answers") or [])]:
        gold, gold_type = answer_strings(answer, variant)
        if not gold[0].strip():
            continue
        em, overlap = metrics(prediction, gold)
        best_em, best_f1 = max(best_em, em), max(best_f1, overlap)
        if reached((em == best_em, overlap == best_f1)):
            best_type = gold_type
    return Score(best_em, best_f1, best_type)


def evaluate(
    annotations: Mapping[str, Any],
    predictions: Mapping[str, Answer],
    variant: Variant = Variant.NONE_AWARE,
) -> dict[str, Score]:
    """Return the score of every question of DROP-style `annotations`, by query id."""
    return {
        qa_pair["query_id"]: score_question(qa_pair, predictions.get(qa_pair["query_id"]), variant)
        for passage in annotations.values()
        for qa_pair in passage["qa_pairs"]
    }


def global_scores(scores: Sequence[Score]) -> dict[str, float]:
    """Return the official keys global_em and global_f1 in 0..1, unrounded."""
    return {
        "global_em": numpy_mean([score.em for score in scores]),
        "global_f1": numpy_mean([score.f1 for score in scores]),
    }


def _normalise_token(token: str) -> str:
    """Return one token in lower case, as a float where it is one, else without punctuation."""
    lowered = token.lower()
    bare = lowered if is_number(lowered) else lowered.translate(WITHOUT_PUNCTUATION)
    if is_number(bare):
        bare = str(float(bare))
    return " ".join(ARTICLE.sub(" ", bare).split())


def _normalised(answer: Answer) -> list[str]:
    """Return the normalised spans of an answer that may be a single string."""
    return [normalise(span) for span in ([answer] if isinstance(answer, str) else answer)]


def _bags(answer: Answer) -> list[Bag]:
    """Return the set of tokens of each span."""
    return [frozenset(span.split()) for span in _normalised(answer)]
