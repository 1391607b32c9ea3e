"""The fold of each article, fixed when its paragraphs are chosen: no article is in two splits."""

import random
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from annotation.protocols import folds
from collector.seeds.candidate import GROUP, Candidate

if TYPE_CHECKING:
    from annotation.protocols.squad.parameters import Parameters

RULE = (
    "The split of an article was fixed when its paragraphs were chosen: no article is in two, and "
    "articles of which paragraphs are nearly the same are in one."
)


def plan(
    seeds: Iterable[Candidate],
    parameters: "Parameters",
    rng: random.Random,
    planned: Mapping[str, int] | None = None,
    fold_of_text: Mapping[str, str] | None = None,
) -> dict[Hashable, str]:
    """Return the fold of each paragraph, by seed key: that of its article.

    planned, fold_of_text: what earlier choices of seeds fixed; see annotation.protocols.folds.
    """
    by_article = (replace(seed, text=str(seed.payload[GROUP])) for seed in seeds)
    return folds.plan(by_article, parameters.splits, rng, planned, fold_of_text)
