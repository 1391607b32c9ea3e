"""Assigns each section to a fold when it is chosen: the fold sets its number of dialogs."""

import random
from collections.abc import Hashable, Iterable, Mapping
from fractions import Fraction
from types import SimpleNamespace
from typing import TYPE_CHECKING

from annotation.protocols import folds
from collector.protocols.parameters import FOLDS
from collector.seeds.candidate import Candidate

if TYPE_CHECKING:
    from annotation.protocols.quac.parameters import Parameters

RULE = (
    "The split of an article was fixed when its sections were chosen: no section is in two, and "
    "articles that begin alike, or have nearly the same paragraph in their sections, are in one."
)


def plan(
    seeds: Iterable[Candidate],
    parameters: "Parameters",
    rng: random.Random,
    planned: Mapping[str, int] | None = None,
    fold_of_text: Mapping[str, str] | None = None,
) -> dict[Hashable, str]:
    """Return the fold of each section, by seed key; no article is in two (QuAC 4: no section).

    The weights are shares of the questions. So a fold with two dialogs about each section gets
    half as many sections as its weight says. planned, fold_of_text: what earlier choices fixed; see
    annotation.protocols.folds.
    """
    weights = {
        fold: Fraction(str(getattr(parameters.splits, fold)))
        / parameters.dialog.redundancy.of(fold)
        for fold in FOLDS
    }
    return folds.plan(seeds, SimpleNamespace(**weights), rng, planned, fold_of_text)
