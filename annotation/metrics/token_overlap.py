"""Exact match and token F1 as the SQuAD scripts v1.1 and v2.0 compute them."""

import re
import string
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from annotation.metrics.summation import plain_sum

Answers = Mapping[str, Sequence[str]]
Predictions = Mapping[str, str]
WITHOUT_PUNCTUATION = str.maketrans("", "", string.punctuation)
ARTICLE = re.compile(r"\b(a|an|the)\b")


def exact_match(prediction: str, reference: str) -> float:
    """Return 1.0 when both texts normalise to the same string, else 0.0."""
    return float(answer_tokens(prediction) == answer_tokens(reference))


def token_f1(prediction: str, reference: str) -> float:
    """Return the F1 of the two bags of tokens; 0.0 without overlap, so for two blanks too."""
    return _overlap_f1(answer_tokens(prediction), answer_tokens(reference))


def token_f1_with_blank(prediction: str, reference: str) -> float:
    """Return the v2.0 F1: where either side is blank it is 1.0 exactly when both are."""
    predicted, gold = answer_tokens(prediction), answer_tokens(reference)
    if not predicted or not gold:
        return float(predicted == gold)
    return _overlap_f1(predicted, gold)


def score_v1(prediction: str, references: Sequence[str]) -> tuple[float, float]:
    """Return (exact match, F1), each the best over the references (SQuAD v1.1).

    Raises ValueError without a reference: v1.1 has no unanswerable questions.
    """
    if not references:
        raise ValueError("v1.1 needs a reference for every question: score with v2.0.")
    return (
        max(exact_match(prediction, reference) for reference in references),
        max(token_f1(prediction, reference) for reference in references),
    )


def score_v2(prediction: str, references: Sequence[str]) -> tuple[float, float]:
    """Return (exact match, F1), each the best over the references that are not blank (v2.0).

    With no such reference the question is unanswerable: a blank prediction is the right one.
    """
    kept = [reference for reference in references if answer_tokens(reference)] or [""]
    return (
        max(exact_match(prediction, reference) for reference in kept),
        max(token_f1_with_blank(prediction, reference) for reference in kept),
    )


def evaluate_v1(gold: Answers, predictions: Predictions) -> dict[str, float]:
    """Return the official v1.1 keys in percent; a question without prediction counts zero."""
    scores = [
        score_v1(predictions[key], references) if key in predictions else (0.0, 0.0)
        for key, references in gold.items()
    ]
    return {
        "exact_match": _percent(em for em, _ in scores),
        "f1": _percent(f1 for _, f1 in scores),
    }


def evaluate_v2(
    gold: Answers, predictions: Predictions, unanswered: Collection[str] = ()
) -> dict[str, float]:
    """Return the official v2.0 keys in percent, without the no-answer threshold search.

    As in the script a question without prediction is left out, it does not count zero. unanswered:
    the ids above the threshold of no answer; one counts as answered with nothing.
    """
    scores = {
        key: score_v2(predictions[key], references)
        for key, references in gold.items()
        if key in predictions
    }
    scores |= {key: (float(not gold[key]),) * 2 for key in unanswered if key in scores}
    groups: dict[str, Callable[[str], bool]] = {
        "": lambda key: True,
        "HasAns_": lambda key: bool(gold[key]),
        "NoAns_": lambda key: not gold[key],
    }
    result: dict[str, float] = {}
    for prefix, belongs in groups.items():
        group = [score for key, score in scores.items() if belongs(key)]
        if group or not prefix:
            result[f"{prefix}exact"] = _percent(em for em, _ in group)
            result[f"{prefix}f1"] = _percent(f1 for _, f1 in group)
            result[f"{prefix}total"] = len(group)
    return result


def best_threshold(
    scores: Mapping[str, float],
    predictions: Predictions,
    unanswerable: Mapping[str, float],
    has_answer: Mapping[str, bool],
) -> tuple[float, float]:
    """Return the best total, in percent, and the threshold that reaches it (v2.0).

    Above the threshold of `unanswerable`, how probable it is that there is no answer, none is
    given. scores: of each prediction, exact match or F1, had it been given. The lowest of equally
    good thresholds counts; it is 0 where answering nothing is best.
    """
    total = best = float(sum(not has_answer[key] for key in scores))
    threshold = 0.0
    for key in sorted(unanswerable, key=lambda key: unanswerable[key]):
        if key not in scores:
            continue
        total += scores[key] if has_answer[key] else -float(bool(predictions[key]))
        if total > best:
            best, threshold = total, unanswerable[key]
    return 100.0 * best / len(scores), threshold


def _overlap_f1(predicted: list[str], gold: list[str]) -> float:
    """Return the harmonic mean of precision and recall over the shared tokens."""
    n_shared = (Counter(predicted) & Counter(gold)).total()
    if n_shared == 0:
        return 0.0
    precision = n_shared / len(predicted)
    recall = n_shared / len(gold)
    return 2 * precision * recall / (precision + recall)


def _percent(values: Iterable[float]) -> float:
    """Return the mean of `values` times 100, summed first as the scripts do; 0.0 for none."""
    listed = list(values)
    return 100.0 * plain_sum(listed) / len(listed) if listed else 0.0


def answer_tokens(text: str) -> list[str]:
    """Return the words of `text` in lower case without ASCII punctuation and articles.

    The order is the official one and shows: punctuation vanishes before articles are looked
    for, so "the-a" becomes "thea" and stays (SQuAD v1.1).
    """
    return ARTICLE.sub(" ", text.lower().translate(WITHOUT_PUNCTUATION)).split()
