"""The split of each headline: none is planned; they are drawn when the verdicts are known."""

import random
from collections.abc import Iterable, Iterator
from typing import Any


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
