"""Chooses one of several by a weighted sum of what is known of each: a conditional logit."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self, TypedDict

if TYPE_CHECKING:
    import numpy

# Ours: how strongly weights are drawn to nought, and those of one kind to those of all kinds.
PENALTY = 20.0
KIND_PENALTY = 40.0
STEPS = 120
# Of a weight that is stored as text.
DIGITS = 4


class Weights(TypedDict):
    """What was learned, as it is stored; `weights`: of each kind. All empty: nothing."""

    mean: list[float]
    scale: list[float]
    weights: list[list[float]]


@dataclass(frozen=True)
class Choice:
    """What one question has to choose from: a row of features each, and which rows are right.

    left_out: how many wrong rows each wrong one here stands for, where only some were drawn.
    """

    rows: "numpy.ndarray"
    right: "numpy.ndarray"
    kind: int = 0
    left_out: float = 1.0


@dataclass
class Ranking:
    """Weights of features, common to all kinds of questions, and of each kind in particular."""

    kinds: int = 1
    mean: "numpy.ndarray | None" = None
    scale: "numpy.ndarray | None" = None
    weights: "numpy.ndarray | None" = None

    def fit(self, choices: Sequence[Choice]) -> None:
        """Learn the weights that make the right rows probable; choices without any are no help."""
        import numpy
        from scipy.optimize import minimize
        from threadpoolctl import threadpool_limits

        choices = [each for each in choices if each.right.any() and not each.right.all()]
        if not choices:
            return
        # By kind, so that the rows of one kind are one slice.
        choices.sort(key=lambda each: each.kind)
        problem = _Problem(choices, self.kinds)
        self.mean, self.scale = problem.mean, problem.scale
        with threadpool_limits(1):
            found = minimize(
                problem.loss,
                numpy.zeros((self.kinds + 1) * len(problem.mean)),
                jac=True,
                method="L-BFGS-B",
                options={"maxiter": STEPS},
            )
        both = found.x.reshape(self.kinds + 1, -1)
        self.weights = both[1:] + both[0]

    def as_json(self) -> Weights:
        """Return what was learned as numbers of a few digits, for `from_json`."""
        if self.weights is None or self.mean is None or self.scale is None:
            return {"mean": [], "scale": [], "weights": []}
        arrays = (self.mean, self.scale, self.weights)
        mean, scale, weights = (each.round(DIGITS).tolist() for each in arrays)
        return {"mean": mean, "scale": scale, "weights": weights}

    @classmethod
    def from_json(cls, told: Weights) -> Self:
        """Return what `as_json` told."""
        import numpy

        weights = numpy.array(told["weights"])
        if not len(weights):
            return cls()
        return cls(len(weights), numpy.array(told["mean"]), numpy.array(told["scale"]), weights)

    def scores(self, rows: "numpy.ndarray", kind: int = 0) -> "numpy.ndarray":
        """Return each row's log-odds up to a constant; zeros where nothing was learned."""
        import numpy

        if self.weights is None or self.mean is None:
            return numpy.zeros(len(rows))
        found: numpy.ndarray = ((rows - self.mean) / self.scale) @ self.weights[kind]
        return found


class _Problem:
    """The penalised likelihood of the right rows, and its slope."""

    def __init__(self, choices: Sequence[Choice], kinds: int) -> None:
        import numpy

        self.rows = numpy.concatenate([each.rows for each in choices]).astype(numpy.float32)
        self.mean = self.rows.mean(axis=0, dtype=numpy.float64)
        self.scale = self.rows.std(axis=0, dtype=numpy.float64)
        self.scale[self.scale < 1e-6] = 1.0
        self.rows -= self.mean.astype(numpy.float32)
        self.rows /= self.scale.astype(numpy.float32)
        sizes = [len(each.right) for each in choices]
        self.starts = numpy.concatenate([[0], numpy.cumsum(sizes)[:-1]])
        self.of = numpy.repeat(numpy.arange(len(sizes)), sizes)
        self.right = numpy.concatenate([each.right for each in choices])
        self.extra = numpy.repeat([each.left_out for each in choices], sizes)
        self.extra[self.right] = 1.0
        counts = numpy.bincount([each.kind for each in choices], sizes, kinds).astype(int)
        ends = numpy.cumsum(counts)
        self.slices = [slice(end - count, end) for end, count in zip(ends, counts, strict=True)]

    def loss(self, flat: "numpy.ndarray") -> tuple[float, "numpy.ndarray"]:
        import numpy

        both = flat.reshape(len(self.slices) + 1, -1)
        common, own = both[0], both[1:]
        scores = numpy.concatenate(
            [
                self.rows[part] @ (common + more).astype(numpy.float32)
                for part, more in zip(self.slices, own, strict=True)
            ]
        ).astype(numpy.float64)
        scores -= numpy.maximum.reduceat(scores, self.starts)[self.of]
        masses = numpy.exp(scores) * self.extra
        whole = numpy.add.reduceat(masses, self.starts)
        good = numpy.where(self.right, masses, 0.0)
        of_right = numpy.add.reduceat(good, self.starts) + 1e-12
        left = (masses / whole[self.of] - good / of_right[self.of]).astype(numpy.float32)
        slopes = numpy.empty_like(both)
        for at, part in enumerate(self.slices, start=1):
            slopes[at] = left[part] @ self.rows[part]
        slopes[0] = slopes[1:].sum(axis=0) + PENALTY * common
        slopes[1:] += KIND_PENALTY * own
        penalty = PENALTY * (common**2).sum() + KIND_PENALTY * (own**2).sum()
        return -numpy.log(of_right / whole).sum() + penalty / 2, slopes.ravel()


def shares(scores: "numpy.ndarray") -> "numpy.ndarray":
    """Return how probable each is, adding up to 1."""
    import numpy

    if not len(scores):
        return scores
    masses = numpy.exp(scores - scores.max())
    found: numpy.ndarray = masses / masses.sum()
    return found
