"""The split of each headline: none is planned; they are drawn when the verdicts are known."""

import random
from collections.abc import Iterable, Iterator, Mapping
from typing import Any


def plan(
    seeds: Iterable[Any],
    parameters: Any,
    rng: random.Random,
    planned: Mapping[str, int] | None = None,
    fold_of_text: Mapping[str, str] | None = None,
) -> dict[Any, str]:
    """Return no fold: every paragraph gets the same number of writers."""
    return {}


def assign(
    examples: Iterable[Any], parameters: Any, rng: random.Random
) -> Iterator[tuple[Any, str, str]]:
    """Yield (example, split, reason), as many in each split as its weight says."""
    drawn = list(examples)
    rng.shuffle(drawn)
    weights = parameters.splits
    n_train = len(drawn) * weights.train // (weights.train + weights.test)
    for number, example in enumerate(drawn):
        yield example, "train" if number < n_train else "test", "drawn"


def text_key(text: str) -> str:
    """Return a short key that equal texts share."""
    return " ".join(text.split())[:80]
