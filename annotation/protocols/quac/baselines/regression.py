"""A feature-rich logistic regression that selects the answer sentence (QuAC 5.3)."""

import math
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from annotation.protocols.quac.baselines.bounds import Answering, Setting, span
from annotation.protocols.quac.baselines.sentences import gold_sentence, sentences_of, texts_of
from annotation.protocols.quac.baselines.similarity import Vectors, cosine, vectors_of, words
from annotation.protocols.quac.chunks import standard
from annotation.protocols.quac.file_format import CANNOT_ANSWER
from annotation.protocols.quac.parameters import defaults
from annotation.protocols.quac.scoring import Prediction
from annotation.protocols.quac.turns import Turn

if TYPE_CHECKING:
    import numpy


Features = dict[str, float]
# Ours: the paper does not say how long an n-gram is.
LONGEST_NGRAM = 3
# Ours: sentences further from the last answer than this are alike.
FARTHEST = 4


@dataclass(frozen=True)
class Past:
    """What has been said before a question.

    answered: the places of the sentences that held an answer, the latest first.
    """

    answered: tuple[int, ...]
    n_unanswered: int
    question: str
    answer: str
    continuation: str


def candidates(turn: Turn, language: str, vectors: Vectors) -> Iterator[Features]:
    """Yield the features of every sentence in order, then those of answering with none."""
    places = sentences_of(turn.section, language)
    past = past_of(turn, places)
    best: Features = {}
    for at, (start, end) in enumerate(places):
        matching = matches(turn.question, turn.section[start:end], vectors)
        best = {name: max(best.get(name, 0.0), value) for name, value in matching.items()}
        yield {
            **matching,
            **bias(turn, places, at),
            **context(turn, past, places, at, vectors),
        }
    yield none(turn, past, best)


def matches(question: str, text: str, vectors: Vectors) -> Features:
    """Return how much of the question's n-grams the text holds, and how near the two are."""
    found = {"cosine": cosine(vectors.of(question), vectors.of(text))}
    for n in range(1, LONGEST_NGRAM + 1):
        wanted, held = ngrams(question, n), ngrams(text, n)
        found[f"{n}-grams"] = len(wanted & held) / len(wanted) if wanted else 0.0
    return found


def bias(turn: Turn, places: Sequence[tuple[int, int]], at: int) -> Features:
    """Return where the sentence stands and how long it is."""
    start, end = places[at]
    return {
        "sentence": 1.0,
        f"chunk {standard().at(turn.section, start, end)}": 1.0,
        "first": float(at == 0),
        "last": float(at == len(places) - 1),
        "length": math.log1p(len(words(turn.section[start:end]))) / 4,
    }


def context(
    turn: Turn, past: Past, places: Sequence[tuple[int, int]], at: int, vectors: Vectors
) -> Features:
    """Return how the sentence lies to what was said before."""
    start, end = places[at]
    place, time = at / len(places), min(share_of_dialog(turn.number), 1.0)
    found = {
        "behind the dialog": max(time - place, 0.0),
        "ahead of the dialog": max(place - time, 0.0),
        "answered before": float(at in past.answered),
    }
    if past.answered:
        step = max(-FARTHEST, min(FARTHEST, at - past.answered[0]))
        found[f"step {step}"] = 1.0
        found[f"step {step} after {past.continuation}"] = 1.0
    if past.question:
        text = vectors.of(turn.section[start:end])
        found["previous question"] = cosine(vectors.of(past.question), text)
        found["previous answer"] = cosine(vectors.of(past.answer), text) if past.answer else 0.0
    return found


def none(turn: Turn, past: Past, best: Features) -> Features:
    """Return what speaks for no answer: the turn, the past, how little the section matches."""
    asked = words(turn.question)
    found = {
        "none": 1.0,
        "none turn": min(share_of_dialog(turn.number), 1.0),
        "none so far": share_of_dialog(past.n_unanswered),
        "none question length": math.log1p(len(asked)) / 4,
        **{f"none best {name}": value for name, value in best.items()},
    }
    if past.question:
        found[f"none after {'an answer' if past.answer else 'none'}"] = 1.0
        found[f"none after {past.continuation}"] = 1.0
    for n in (1, 2):
        if len(asked) >= n:
            found["none begins " + " ".join(asked[:n])] = 1.0
    return found


def share_of_dialog(number: int) -> float:
    """Return so many questions as a share of those that the longest dialog has."""
    return number / defaults().dialog.max_questions


def past_of(turn: Turn, places: Sequence[tuple[int, int]]) -> Past:
    """Return what was said before the turn, with the teacher's true answers (QuAC 4)."""
    before = list(turn.history())
    starts = [each.teacher.start for each in before]
    last = before[0] if before else None
    said = last.teacher.text if last else CANNOT_ANSWER
    return Past(
        answered=tuple(_sentence_at(places, start) for start in starts if start is not None),
        n_unanswered=starts.count(None),
        question=last.question if last else "",
        answer="" if said == CANNOT_ANSWER else said,
        continuation=last.continuation if last else "",
    )


@lru_cache(maxsize=16_384)
def ngrams(text: str, n: int) -> frozenset[tuple[str, ...]]:
    """Return the distinct n-grams of a text's words."""
    found = words(text)
    return frozenset(found[at : at + n] for at in range(len(found) - n + 1))


def _sentence_at(places: Sequence[tuple[int, int]], start: int) -> int:
    return max(sum(first <= start for first, _ in places) - 1, 0)


# Ours: how strongly weights are drawn to 0, per candidate; the paper's tool has its own default.
PENALTY = 1e-5
MAX_STEPS = 300


class Rows:
    """Candidates' features in a compressed matrix; a name gets its column when first seen."""

    def __init__(self) -> None:
        self.columns: dict[str, int] = {}
        self.values, self.indices, self.ends = array("d"), array("i"), array("q", [0])

    def add(self, features: Features) -> None:
        """Append one candidate."""
        for name, value in features.items():
            if value:
                self.indices.append(self.columns.setdefault(name, len(self.columns)))
                self.values.append(value)
        self.ends.append(len(self.values))


def logistic_regression(setting: Setting) -> Answering:
    """Return what answers with the candidate of the highest probability, the first of equal ones.

    Each sentence, and answering with none, is a candidate; it is right when it is the gold
    sentence of the teacher's answer.
    """
    vectors = vectors_of(setting)
    rows, right = Rows(), array("d")
    for turn in setting.train:
        best = gold_sentence(turn, setting.language)
        found = list(candidates(turn, setting.language, vectors))
        for at, features in enumerate(found):
            rows.add(features)
            right.append(at == (len(found) - 1 if best is None else best))
    weights = fit(rows, right)

    def answer(turn: Turn) -> Prediction:
        texts = [*texts_of(turn.section, setting.language), CANNOT_ANSWER]
        scores = [
            _score(features, weights) for features in candidates(turn, setting.language, vectors)
        ]
        return span(texts[scores.index(max(scores))])

    return answer


def fit(rows: Rows, right: Sequence[float]) -> dict[str, float]:
    """Return the weight of each feature that minimises the mean loss and the penalty."""
    import numpy
    from scipy.optimize import minimize
    from scipy.sparse import csr_matrix

    if not rows.columns:
        return {}
    shape = (len(right), len(rows.columns))
    matrix = csr_matrix((rows.values, rows.indices, rows.ends), shape=shape)
    sign = 2 * numpy.asarray(right) - 1

    def loss(weights: "numpy.ndarray") -> "tuple[float, numpy.ndarray]":
        margin = sign * (matrix @ weights)
        slope = -sign * numpy.exp(-numpy.logaddexp(0, margin)) / len(sign)
        whole = numpy.logaddexp(0, -margin).mean() + PENALTY / 2 * (weights @ weights)
        return whole, matrix.T @ slope + PENALTY * weights

    start = numpy.zeros(len(rows.columns))
    best = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": MAX_STEPS})
    return dict(zip(rows.columns, best.x.tolist(), strict=True))


def _score(features: Features, weights: dict[str, float]) -> float:
    return sum(weights.get(name, 0.0) * value for name, value in features.items())
