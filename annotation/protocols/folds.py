"""The fold of each passage, planned when seeds are chosen, so that no text is in two folds."""

import random
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from math import lcm
from typing import Any

from collector.protocols.parameters import FOLDS
from collector.seeds.candidate import GROUP, Candidate, text_key

# Texts with this many terms in a row in common are the same text. Fewer are a turn of phrase, which
# may stand in two splits.
SAME_TERMS = 8


def plan(
    seeds: Iterable[Any],
    weights: Any,
    rng: random.Random,
    planned: Mapping[str, int] | None = None,
    fold_of_text: Mapping[str, str] | None = None,
) -> dict[Hashable, str]:
    """Return the fold of each seed, by its key.

    seeds: objects or mappings with `key` and `text`, in an order that depends on the collection's
    seed alone. weights: their attributes train, dev and test, numbers of any sum.
    planned: how many seeds each fold has already; they stay, and the new ones bring the whole to
    the weights by largest remainders. fold_of_text: text_key(text) -> fold of earlier seeds, so
    that equal texts share a fold across calls as they do within one.
    """
    earlier = fold_of_text or {}
    have = Counter({fold: (planned or {}).get(fold, 0) for fold in FOLDS})
    result: dict[Hashable, str] = {}
    groups: dict[str, list[Hashable]] = {}
    for seed in seeds:
        key, text = _read(seed, "key"), text_key(_read(seed, "text"))
        if text in earlier:
            result[key] = earlier[text]
            have[earlier[text]] += 1
        else:
            groups.setdefault(text, []).append(key)
    for keys, fold in _placed(list(groups.values()), weights, have, rng):
        result.update(dict.fromkeys(keys, fold))
    return result


def plan_by_group(
    seeds: Iterable[Candidate],
    parameters: Any,
    rng: random.Random,
    planned: Mapping[str, int] | None = None,
    fold_of_text: Mapping[str, str] | None = None,
) -> dict[Hashable, str]:
    """Return the fold of each seed, by its key: that of its article, or group of documents.

    parameters: a protocol's, with weights in `splits`. planned, fold_of_text: as in `plan`.
    """
    by_group = (replace(seed, text=str(seed.payload[GROUP])) for seed in seeds)
    return plan(by_group, parameters.splits, rng, planned, fold_of_text)


def _placed(
    groups: list[list[Hashable]], weights: Any, have: Counter[str], rng: random.Random
) -> Iterator[tuple[list[Hashable], str]]:
    """Yield each group of equal texts with its fold: always the fold that lacks most.

    Large groups come first, so that the single passages after them make the sizes exact; filling
    what lacks most, unit by unit, is the method of largest remainders. Whole numbers keep it
    exact.
    """
    rng.shuffle(groups)
    groups.sort(key=len, reverse=True)
    share = _whole_weights([getattr(weights, fold) for fold in FOLDS])
    n_seeds = have.total() + sum(len(group) for group in groups)
    for group in groups:
        lacking = {
            fold: weight * n_seeds - have[fold] * sum(share)
            for fold, weight in zip(FOLDS, share, strict=True)
        }
        fold = max(FOLDS, key=lacking.__getitem__)
        have[fold] += len(group)
        yield group, fold


def _whole_weights(weights: list[float]) -> list[int]:
    """Return integers in the ratio of the decimal `weights`; raises ValueError for wrong ones."""
    exact = [Fraction(str(weight)) for weight in weights]
    if min(exact) < 0 or not sum(exact):
        raise ValueError(f"The weights of the splits must not be negative nor all 0: {weights}.")
    scale = lcm(*(fraction.denominator for fraction in exact))
    return [int(fraction * scale) for fraction in exact]


def _read(item: Any, name: str) -> Any:
    """Return item[name] of a mapping, item.name of anything else."""
    return item[name] if isinstance(item, Mapping) else getattr(item, name)
