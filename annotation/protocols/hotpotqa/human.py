"""How people do by each other: several answers with facts to one question (HotpotQA 5.3)."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from annotation.protocols.hotpotqa.measures import (
    Measure,
    Score,
    answer_measure,
    facts_measure,
    joint_measure,
)

Fact = tuple[int, int]


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
