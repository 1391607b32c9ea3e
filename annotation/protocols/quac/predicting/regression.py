"""A feature-rich logistic regression that selects the answer sentence (QuAC 5.3)."""

from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING

from annotation.protocols.quac.layout import CANNOT_ANSWER
from annotation.protocols.quac.predicting.bounds import Answering, Setting, span
from annotation.protocols.quac.predicting.features import Features, candidates
from annotation.protocols.quac.predicting.sentences import gold_sentence, texts_of
from annotation.protocols.quac.predicting.similarity import vectors_of
from annotation.protocols.quac.scoring import Prediction
from annotation.protocols.quac.turns import Turn

if TYPE_CHECKING:
    import numpy

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
    weights = fitted(rows, right)

    def answer(turn: Turn) -> Prediction:
        texts = [*texts_of(turn.section, setting.language), CANNOT_ANSWER]
        scores = [
            _score(features, weights) for features in candidates(turn, setting.language, vectors)
        ]
        return span(texts[scores.index(max(scores))])

    return answer


def fitted(rows: Rows, right: Sequence[float]) -> dict[str, float]:
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
