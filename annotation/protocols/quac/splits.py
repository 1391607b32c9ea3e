"""The fold of each section, fixed when it is chosen, because it decides how often it is used."""

import random
from collections.abc import Hashable, Iterable, Mapping
from fractions import Fraction
from types import SimpleNamespace
from typing import TYPE_CHECKING

from annotation.splits import folds
from collector.protocols.parameters import FOLDS
from collector.seeds.candidate import Candidate

if TYPE_CHECKING:
    from annotation.protocols.quac.parameters import Parameters

RULE = (
    "The split of a section was fixed when it was chosen: no section is in two, and none nearly "
    "the same as it."
)


def plan(
    seeds: Iterable[Candidate],
    parameters: "Parameters",
    rng: random.Random,
    planned: Mapping[str, int] | None = None,
    fold_of_text: Mapping[str, str] | None = None,
) -> dict[Hashable, str]:
    """Return the fold of each section, by seed key; no section is in two folds (QuAC 4).

    The weights are of questions: a fold whose sections are talked about twice has half as many of
    them. planned, fold_of_text: what earlier choices of seeds fixed; see annotation.splits.folds.
    """
    weights = {
        fold: Fraction(str(getattr(parameters.splits, fold)))
        / parameters.dialog.redundancy.of(fold)
        for fold in FOLDS
    }
    return folds.plan(seeds, SimpleNamespace(**weights), rng, planned, fold_of_text)
