"""The fold of each passage, fixed when seeds are chosen, because it decides the redundancy."""

import random
from collections.abc import Hashable, Iterable, Mapping
from typing import TYPE_CHECKING

from annotation.protocols import folds
from collector.seeds.candidate import Candidate

if TYPE_CHECKING:
    from annotation.protocols.iirc.parameters import Parameters

RULE = (
    "The split of a passage was fixed when it was chosen: no text is in two, and none nearly the "
    "same as it. What proves an answer is in linked articles, which passages of several splits may "
    "link to."
)


def plan(
    seeds: Iterable[Candidate],
    parameters: "Parameters",
    rng: random.Random,
    planned: Mapping[str, int] | None = None,
    fold_of_text: Mapping[str, str] | None = None,
) -> dict[Hashable, str]:
    """Return the fold of each seed's passage, by seed key (IIRC 2.3, "80% of the data").

    planned, fold_of_text: what earlier choices of seeds fixed; see annotation.protocols.folds.
    """
    return folds.plan(seeds, parameters.splits, rng, planned, fold_of_text)
