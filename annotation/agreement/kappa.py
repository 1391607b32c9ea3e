"""Agreement, most of it corrected for chance: Fleiss' kappa, Krippendorff's alpha, Gwet's AC1.

All of them take counts, int[n_items, n_labels]: how many annotators gave an item a label. Items may
have unequal numbers of annotators; those with fewer than two tell nothing of how they agree.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

Counts = Sequence[Sequence[int]] | Any
LEVEL = 0.95
RESAMPLES = 2000
# Resamples at a time: of a thousand items in nine labels they take a few megabytes.
CHUNK = 250
# Where the shares of the labels begin in what `_shares` returns of an item.
SHARES = 3


@dataclass(frozen=True)
class Coefficient:
    """A measure of agreement that is a function of sums over items, so that it resamples fast.

    parts: float[n_items, n_parts] of the counts; value: the measure of their sums, by the last
    axis, NaN where it is not defined.
    """

    name: str
    parts: Callable[[Any], Any]
    value: Callable[[Any], Any]

    def __call__(self, counts: Counts) -> float:
        """Return the measure; raises ValueError where no item has two votes, or none is defined."""
        found = float(self.value(self.parts(self._checked(counts)).sum(axis=0)))
        if found != found:
            raise ValueError(f"{self.name} is not defined where every vote is the same label.")
        return found

    def interval(
        self, counts: Counts, seed: int, resamples: int = RESAMPLES, level: float = LEVEL
    ) -> tuple[float, float]:
        """Return the percentile bootstrap interval over items, the same for the same seed.

        Resamples in which the measure is not defined are left out. Raises ValueError as a call
        does.
        """
        self(counts)
        parts = self.parts(self._checked(counts))
        return bootstrap_interval(parts, self.value, seed, resamples, level)

    def or_none(self, counts: Counts) -> float | None:
        """Return the measure, None where it is not defined."""
        try:
            return self(counts)
        except ValueError:
            return None

    def _checked(self, counts: Counts) -> Any:
        """Return the counts of rated items in labels that were given, as an array of numpy's."""
        import numpy

        table = numpy.asarray(counts)
        if table.ndim != 2 or not (table.sum(axis=1) > 1).any():
            raise ValueError(
                f"{self.name} needs a table of items by labels with two votes on an item."
            )
        return table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]


def bootstrap_interval(
    parts: Any,
    value: Callable[[Any], Any],
    seed: int,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> tuple[float, float]:
    """Return the percentile interval of a value of sums over items, which are drawn anew.

    parts: float[n_items, n_parts]; value: of their sums, by the last axis; where it is NaN, the
    resample is left out.
    """
    import numpy

    rng = numpy.random.default_rng(seed)
    # Items that were given the same count for one another: so many of each are drawn at once.
    alike, numbers = numpy.unique(parts, axis=0, return_counts=True)
    shares, found = numbers / numbers.sum(), []
    for begin in range(0, resamples, CHUNK):
        weights = rng.multinomial(len(parts), shares, min(CHUNK, resamples - begin))
        found.append(value(weights @ alike))
    tail = (1 - level) / 2
    low, high = numpy.nanquantile(numpy.concatenate(found), [tail, 1 - tail])
    return float(low), float(high)


def _shares(table: Any) -> Any:
    """Return per item: whether it has two votes, its pairs that agree, 1, the labels' shares."""
    import numpy

    votes = table.sum(axis=1)
    pairs = numpy.maximum(votes * (votes - 1), 1)
    agreeing = (table * (table - 1)).sum(axis=1) / pairs
    shares = table / votes[:, None]
    return numpy.column_stack([votes > 1, agreeing, numpy.ones(len(table)), shares])


def _observed(sums: Any) -> Any:
    """Return the share of pairs of annotators who agree, averaged over the items that have any."""
    import numpy

    with numpy.errstate(invalid="ignore"):
        return sums[..., 1] / sums[..., 0]


def _fleiss(sums: Any) -> Any:
    shares = sums[..., SHARES:] / sums[..., 2, None]
    return _corrected(_observed(sums), (shares * shares).sum(axis=-1))


def _gwet(sums: Any) -> Any:
    shares = sums[..., SHARES:] / sums[..., 2, None]
    others = max(1, shares.shape[-1] - 1)
    return _corrected(_observed(sums), (shares * (1 - shares)).sum(axis=-1) / others)


def _corrected(observed: Any, expected: Any) -> Any:
    """Return (observed - expected) / (1 - expected), NaN where chance alone makes all agree."""
    import numpy

    left = 1 - expected
    # Sums of shares are one but for rounding.
    is_certain = numpy.isclose(left, 0)
    found = (observed - expected) / numpy.where(is_certain, numpy.nan, left)
    return numpy.where((observed == 1) & ~is_certain, 1.0, found)


def _coincidences(table: Any) -> Any:
    """Return per item Krippendorff's coincidences of labels, in one row; nought with one vote."""
    import numpy

    votes = table.sum(axis=1)
    own = table[:, :, None] * numpy.eye(table.shape[1], dtype=int)
    pairs = table[:, :, None] * table[:, None, :] - own
    pairs = pairs / numpy.maximum(votes - 1, 1)[:, None, None]
    return pairs.reshape(len(table), -1)


def krippendorff(
    distances: Callable[[Any], Any], name: str = "Krippendorff's alpha"
) -> Coefficient:
    """Return Krippendorff's alpha by a metric.

    distances: from the labels' totals, float[…, n_labels], to the squared distances of each pair of
    labels, float[…, n_labels, n_labels].
    """

    def value(sums: Any) -> Any:
        import numpy

        n_labels = round(sums.shape[-1] ** 0.5)
        found = sums.reshape(*sums.shape[:-1], n_labels, n_labels)
        totals = found.sum(axis=-1)
        whole = totals.sum(axis=-1)[..., None, None]
        own = totals[..., :, None] * numpy.eye(n_labels)
        apart = distances(totals)
        with numpy.errstate(invalid="ignore", divide="ignore"):
            by_chance = (totals[..., :, None] * totals[..., None, :] - own) / (whole - 1)
            return 1 - (found * apart).sum(axis=(-1, -2)) / (by_chance * apart).sum(axis=(-1, -2))

    return Coefficient(name, _coincidences, value)


def nominal(totals: Any) -> Any:
    """Return the distances of labels that are equal or not."""
    import numpy

    return 1 - numpy.eye(totals.shape[-1])


def ordinal(totals: Any) -> Any:
    """Return the distances of labels in an order, that of the columns: by how many lie between."""
    middle = totals.cumsum(axis=-1) - totals / 2
    return (middle[..., :, None] - middle[..., None, :]) ** 2


simple_agreement = Coefficient("Simple agreement", _shares, _observed)
fleiss_kappa = Coefficient("Fleiss' kappa", _shares, _fleiss)
gwet_ac1 = Coefficient("Gwet's AC1", _shares, _gwet)
krippendorff_alpha = krippendorff(nominal)
COEFFICIENTS = (simple_agreement, fleiss_kappa, krippendorff_alpha, gwet_ac1)
