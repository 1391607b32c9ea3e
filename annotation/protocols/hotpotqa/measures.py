"""One prediction against one reference: answer, supporting facts, both at once (HotpotQA 5.2)."""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple

from annotation.metrics.squad import answer_tokens
from annotation.metrics.summation import plain_sum

# Answers of one word that share no part with any other answer.
WHOLE = ("yes", "no", "noanswer")


class Measure(NamedTuple):
    """Exact match, F1, precision and recall, each from 0 to 1."""

    em: float = 0.0
    f1: float = 0.0
    prec: float = 0.0
    recall: float = 0.0


class Score(NamedTuple):
    """How one prediction did; a part that was not predicted is all 0."""

    answer: Measure = Measure()
    facts: Measure = Measure()
    joint: Measure = Measure()


PREFIXES = {"answer": "", "facts": "sp_", "joint": "joint_"}


def answer_measure(prediction: str, reference: str) -> Measure:
    """Return how the answer's words overlap after the SQuAD normalisation.

    Two answers without any word left match exactly and overlap by nothing, as in the official
    script.
    """
    predicted, gold = answer_tokens(prediction), answer_tokens(reference)
    em = float(predicted == gold)
    if not em and any(len(words) == 1 and words[0] in WHOLE for words in (predicted, gold)):
        return Measure()
    n_shared = (Counter(predicted) & Counter(gold)).total()
    if not n_shared:
        return Measure(em)
    precision, recall = n_shared / len(predicted), n_shared / len(gold)
    return Measure(em, _harmonic(precision, recall), precision, recall)


def facts_measure(
    prediction: Iterable[Sequence[Hashable]], reference: Iterable[Sequence[Hashable]]
) -> Measure:
    """Return how two sets of (title, sentence) overlap; repeated facts count once.

    Two empty sets match exactly and overlap by nothing, as in the official script.
    """
    predicted, gold = set(map(tuple, prediction)), set(map(tuple, reference))
    n_shared = len(predicted & gold)
    precision = n_shared / len(predicted) if predicted else 0.0
    recall = n_shared / len(gold) if gold else 0.0
    return Measure(float(predicted == gold), _harmonic(precision, recall), precision, recall)


def joint_measure(answer: Measure, facts: Measure) -> Measure:
    """Return the products of precisions and of recalls, with their F1 (HotpotQA 5.2)."""
    precision, recall = answer.prec * facts.prec, answer.recall * facts.recall
    return Measure(answer.em * facts.em, _harmonic(precision, recall), precision, recall)


def totals(scores: Sequence[Score]) -> dict[str, float]:
    """Return the means of all twelve keys of the official script, from 0 to 1.

    Raises ZeroDivisionError without any score.
    """
    return {
        f"{prefix}{name}": plain_sum(getattr(getattr(score, part), name) for score in scores)
        / len(scores)
        for part, prefix in PREFIXES.items()
        for name in Measure._fields
    }


def _harmonic(precision: float, recall: float) -> float:
    both = precision + recall
    return 2 * precision * recall / both if both > 0 else 0.0
