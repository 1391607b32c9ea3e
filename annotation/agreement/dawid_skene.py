"""Dawid and Skene's model: what the labels are and how each annotator errs, from votes alone."""

from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

from annotation.agreement.votes import Votes

ROUNDS = 100
LEAST = 1e-10
# The likelihood per vote, in bits, has to grow by this much for another round to be worth it.
TOLERANCE = 1e-7
RESAMPLES, ROUNDS_OF_RESAMPLES = 100, 8
LEVEL = 0.95


@dataclass(frozen=True)
class Estimate:
    """What the model makes of votes: numpy arrays in the order of the votes' table.

    posteriors: float[n_items, n_labels]; priors: float[n_labels]; errors: float[n_labels,
    n_annotators, n_labels], how often an annotator gives the last label where the first is true.
    """

    posteriors: Any
    priors: Any
    errors: Any

    def labels(self) -> Any:
        """Return int[n_items]: the place of each item's likeliest label."""
        return self.posteriors.argmax(axis=1)


def dawid_skene(votes: Votes, rounds: int = ROUNDS, tolerance: float = TOLERANCE) -> Estimate:
    """Return the estimate after at most that many rounds, beginning with the votes' shares.

    Every item must have a vote. tolerance: -1 for all the rounds whatever they gain. (Dawid and
    Skene 1979; the steps, their order and their clipping are those of crowd-kit 1.4.)
    """
    import numpy

    given = _given(votes)
    n_votes = given.sum()
    counts = votes.counts()
    posteriors = counts / counts.sum(axis=1, keepdims=True)
    likelihood = -numpy.inf
    weights = numpy.ones(len(counts))
    priors, errors = _maximised(given, posteriors, weights)
    for _ in range(rounds):
        posteriors, total = _expected(given, priors, errors)
        priors, errors = _maximised(given, posteriors, weights)
        gain, likelihood = total.sum() / n_votes - likelihood, total.sum() / n_votes
        if gain < tolerance:
            break
    n_labels = len(priors)
    return Estimate(posteriors, priors, errors.reshape(n_labels, -1, n_labels))


def accuracies(votes: Votes, estimate: Estimate) -> list[float]:
    """Return the share of each annotator's votes that are right, as likely as the estimate says."""
    return [float(each) for each in _accuracies(_given(votes), estimate.posteriors, votes, 1)]


def accuracy_intervals(
    votes: Votes, estimate: Estimate, seed: int, resamples: int = RESAMPLES, level: float = LEVEL
) -> list[tuple[float, float]]:
    """Return an interval of each annotator's accuracy: Wilson's, by as many votes as it is worth.

    How many those are is what its variance over resamples of items tells, each estimated anew from
    where `estimate` ended: the truth is estimated too, and a bootstrap's own quantiles are too
    narrow next to 1. The same seed gives the same intervals.
    """
    import numpy

    whole = _given(votes)
    # Items with the same votes have the same posteriors: they are reckoned with once.
    _, first, same = numpy.unique(votes.codes, axis=0, return_index=True, return_counts=True)
    given, begun = whole[first], estimate.posteriors[first]
    rng = numpy.random.default_rng(seed)
    n_items, found = len(whole), []
    for _ in range(resamples):
        weights = rng.multinomial(n_items, same / n_items)
        posteriors = begun
        for _ in range(ROUNDS_OF_RESAMPLES):
            priors, errors = _maximised(given, posteriors, weights)
            posteriors, _ = _expected(given, priors, errors)
        found.append(_accuracies(given, posteriors, votes, weights[:, None]))
    n_votes = whole.reshape(n_items, len(votes.annotators), -1).sum(axis=(0, 2))
    share = _accuracies(whole, estimate.posteriors, votes, 1)
    variance = numpy.maximum(numpy.nanvar(found, axis=0, ddof=1), LEAST)
    spread = share * (1 - share)
    # Who is never wrong varies in no resample: their own votes are all that is known.
    worth = numpy.where(spread > LEAST, numpy.minimum(n_votes, spread / variance), n_votes)
    z = NormalDist().inv_cdf((1 + level) / 2)
    centre = (share + z * z / (2 * worth)) / (1 + z * z / worth)
    half = z / (1 + z * z / worth) * numpy.sqrt(spread / worth + (z / (2 * worth)) ** 2)
    return list(zip((centre - half).tolist(), (centre + half).tolist(), strict=True))


def _given(votes: Votes) -> Any:
    """Return float[n_items, n_annotators * n_labels]: 1 where an annotator gave the label."""
    import numpy

    places = numpy.arange(len(votes.labels))
    given = (votes.codes[:, :, None] == places).reshape(len(votes.items), -1)
    return given.astype(float)


def _maximised(given: Any, posteriors: Any, weights: Any) -> tuple[Any, Any]:
    """Return priors and the errors, float[n_labels, n_annotators * n_labels], not yet of one sum.

    Labels that an annotator never gave stay out of theirs: nothing is known of them.
    """
    import numpy

    weighted = posteriors * weights[:, None]
    priors = weighted.sum(axis=0) / weights.sum()
    errors = weighted.T @ given
    seen = given.any(axis=0)
    errors = numpy.where(seen, numpy.maximum(errors, LEAST), 0)
    n_labels = len(priors)
    by_annotator = errors.reshape(n_labels, -1, n_labels)
    sums = by_annotator.sum(axis=2, keepdims=True)
    shares = by_annotator / numpy.where(sums, sums, 1)
    return numpy.maximum(priors, LEAST), shares.reshape(n_labels, -1)


def _expected(given: Any, priors: Any, errors: Any) -> tuple[Any, Any]:
    """Return the posteriors of items, and the logarithm of each one's likelihood to base 2."""
    import numpy

    logs = numpy.log2(numpy.where(errors, errors, 1))
    scores = numpy.log2(priors) + given @ logs.T
    highest = scores.max(axis=1, keepdims=True)
    scaled = numpy.exp2(scores - highest)
    sums = scaled.sum(axis=1, keepdims=True)
    return numpy.maximum(scaled / sums, LEAST), (highest + numpy.log2(sums))[:, 0]


def _accuracies(given: Any, posteriors: Any, votes: Votes, weights: Any) -> Any:
    """Return float[n_annotators], NaN for who has no votes in the items that have a weight."""
    import numpy

    n_labels = len(votes.labels)
    by_annotator = (given * weights).reshape(len(given), -1, n_labels)
    right = (by_annotator * posteriors[:, None, :]).sum(axis=(0, 2))
    with numpy.errstate(invalid="ignore"):
        return right / by_annotator.sum(axis=(0, 2))
