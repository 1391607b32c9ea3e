"""The fold of each passage, fixed when seeds are chosen, because it decides the redundancy."""

import random
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from annotation.splits import folds
from annotation.splits.folds import text_key

if TYPE_CHECKING:
    from annotation.protocols.iirc.parameters import Parameters

__all__ = ["assign", "plan", "text_key"]
Example = TypeVar("Example")


def plan(
    seeds: Iterable[Any],
    parameters: "Parameters",
    rng: random.Random,
    planned: Mapping[str, int] | None = None,
    fold_of_text: Mapping[str, str] | None = None,
) -> dict[Hashable, str]:
    """Return the fold of each seed's passage, by seed key (IIRC 2.3, "80% of the data").

    planned, fold_of_text: what earlier choices of seeds fixed; see annotation.splits.folds.
    """
    return folds.plan(seeds, parameters.splits, rng, planned, fold_of_text)


def assign(
    examples: Iterable[Example], parameters: "Parameters", rng: random.Random
) -> Iterator[tuple[Example, str, str]]:
    """Yield (example, split, reason): what was planned holds, whatever the verdicts dropped."""
    return folds.as_planned(examples)
