"""Draws as many questions of SQuAD and DROP as stand beside IIRC's (IIRC 5)."""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from annotation.protocols.iirc.dataset_tree import Passage
from annotation.protocols.iirc.parameters import CombinedTable


@dataclass(frozen=True)
class Drawn:
    """What stands beside one fold's own questions, and how many there were to be."""

    squad: tuple[Passage, ...]
    drop: tuple[Passage, ...]
    wanted: int

    @property
    def number(self) -> int:
        """Return how many questions were drawn."""
        return n_questions(self.squad) + n_questions(self.drop)


def n_questions(passages: Iterable[Passage]) -> int:
    """Return how many questions the passages have together."""
    return sum(len(passage.questions) for passage in passages)


def drawn(
    own: Sequence[int],
    squad: Sequence[Passage],
    drop: Sequence[Passage],
    numbers: CombinedTable,
    rng: random.Random,
) -> list[Drawn]:
    """Return what is drawn for each fold; own: how many questions of IIRC each has.

    No passage is in two folds: they are dealt out in proportion. Where a file is too short, fewer
    are drawn of both, so that their ratio is kept.
    """
    percent, parts = numbers.others_percent, (numbers.squad_parts, numbers.drop_parts)
    dealt = [_dealt(passages, own, rng) for passages in (squad, drop)]
    found = []
    for number, of_squad, of_drop in zip(own, *dealt, strict=True):
        wanted = round(number * percent / (100 - percent))
        most = min(
            n_questions(of) * sum(parts) // part
            for of, part in zip((of_squad, of_drop), parts, strict=True)
        )
        n_drop = round(min(wanted, most) * parts[1] / sum(parts))
        n_squad = min(wanted, most) - n_drop
        found.append(Drawn(_some(of_squad, n_squad, rng), _some(of_drop, n_drop, rng), wanted))
    return found


def _dealt(
    passages: Sequence[Passage], own: Sequence[int], rng: random.Random
) -> list[list[Passage]]:
    """Return the passages by fold, each fold's questions in proportion to its own."""
    whole, left = sum(own) or 1, rng.sample(passages, len(passages))
    total, folds = n_questions(passages), []
    for number in own[:-1]:
        fold: list[Passage] = []
        while left and n_questions(fold) + len(left[-1].questions) <= total * number / whole:
            fold.append(left.pop())
        folds.append(fold)
    return [*folds, left]


def _some(passages: Sequence[Passage], number: int, rng: random.Random) -> tuple[Passage, ...]:
    """Return so many questions of the passages, drawn, with their passages in order."""
    places = [(at, nth) for at, one in enumerate(passages) for nth in range(len(one.questions))]
    chosen = set(rng.sample(places, min(number, len(places))))
    kept = [
        replace(
            passage,
            questions=tuple(q for nth, q in enumerate(passage.questions) if (at, nth) in chosen),
        )
        for at, passage in enumerate(passages)
    ]
    return tuple(passage for passage in kept if passage.questions)
