"""Answer and supporting facts by a reference, or by several people's (HotpotQA 5.2, 5.3)."""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import NamedTuple

from annotation.metrics.summation import plain_sum
from annotation.metrics.token_overlap import answer_tokens

# Answers of one word that share no part with any other answer.
WHOLE = ("yes", "no", "noanswer")
Fact = tuple[int, int]


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


class Reply(NamedTuple):
    """One person's answer and the (paragraph, sentence) pairs that prove it."""

    answer: str
    facts: tuple[Fact, ...]


def against(prediction: Reply, references: Sequence[Reply]) -> Score:
    """Return how a reply does by the reference of the best F1, for answer and facts each.

    The joint score is of these two. Raises ValueError without a reference.
    """
    answer = _best(answer_measure(prediction.answer, each.answer) for each in references)
    facts = _best(facts_measure(prediction.facts, each.facts) for each in references)
    return Score(answer, facts, joint_measure(answer, facts))


def upper_bound(replies: Sequence[Reply]) -> Score:
    """Return the most that any reply reaches by all the others, each measure for itself.

    Raises ValueError for fewer than two replies.
    """
    scores = list(_each_by_the_others(replies))
    return Score(*(_most(measures) for measures in zip(*scores, strict=True)))


def _each_by_the_others(replies: Sequence[Reply]) -> Iterator[Score]:
    if len(replies) < 2:
        raise ValueError("One person's answer has nothing to be compared with: ask another.")
    for at, reply in enumerate(replies):
        yield against(reply, [*replies[:at], *replies[at + 1 :]])


def _best(measures: Iterable[Measure]) -> Measure:
    """Return the measure of the highest F1; of equal ones that of an exact match or precision."""
    return max(measures, key=lambda measure: (measure.f1, measure.em, measure.prec))


def _most(measures: Iterable[Measure]) -> Measure:
    return Measure(*(max(values) for values in zip(*measures, strict=True)))
