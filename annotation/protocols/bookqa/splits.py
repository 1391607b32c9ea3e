"""The split of each book, fixed when it is chosen: the published one, or drawn by weights."""

import random
from collections.abc import Hashable, Iterable, Mapping
from typing import TYPE_CHECKING

from annotation.protocols import folds
from collector.seeds.candidate import Candidate, text_key

if TYPE_CHECKING:
    from annotation.protocols.bookqa.parameters import Parameters

# As the published files call them, and as we do.
FOLD_OF_SET = {"train": "train", "valid": "dev", "test": "test"}
RULE = (
    "The split of a book was fixed when it was chosen, or is that of the published sets: all "
    "questions about a book are in one, and so are books whose summaries are nearly the same, "
    "unless they were published in two."
)


def plan(
    seeds: Iterable[Candidate],
    parameters: "Parameters",
    rng: random.Random,
    planned: Mapping[str, int] | None = None,
    fold_of_text: Mapping[str, str] | None = None,
) -> dict[Hashable, str]:
    """Return the fold of each book, by seed key: all questions about a book are in one split.

    A book of the published sets stays in its own; planned, fold_of_text: see annotation.splits.
    """
    chosen = list(seeds)
    published: dict[Hashable, str] = {
        seed.key: FOLD_OF_SET[str(seed.payload["set"])]
        for seed in chosen
        if seed.payload.get("set") in FOLD_OF_SET
    }
    rest = [seed for seed in chosen if seed.key not in published]
    fold_of = dict(fold_of_text or {})
    fold_of |= {
        text_key(seed.text): published[seed.key] for seed in chosen if seed.key in published
    }
    return published | folds.plan(rest, parameters.splits, rng, planned, fold_of)
