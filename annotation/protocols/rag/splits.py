"""The fold of each set, fixed when it is drawn: what is connected or nearly the same shares one."""

import random
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from annotation.splits import folds
from collector.seeds.candidate import GROUP, Candidate

if TYPE_CHECKING:
    from annotation.protocols.rag.parameters import Parameters

RULE = (
    "The split of a set of passages was fixed when it was drawn: sets whose documents are "
    "connected or nearly the same share one."
)


def plan(
    seeds: Iterable[Candidate],
    parameters: "Parameters",
    rng: random.Random,
    planned: Mapping[str, int] | None = None,
    fold_of_text: Mapping[str, str] | None = None,
) -> dict[Hashable, str]:
    """Return the fold of each set, by seed key: that of its group of documents.

    planned, fold_of_text: what earlier choices of seeds fixed; see annotation.splits.folds.
    """
    by_group = (replace(seed, text=str(seed.payload[GROUP])) for seed in seeds)
    return folds.plan(by_group, parameters.splits, rng, planned, fold_of_text)
