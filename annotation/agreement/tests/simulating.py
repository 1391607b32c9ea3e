"""Annotators of known accuracy, who err alike in every direction, and what they say of items."""

import random
from collections.abc import Iterator, Sequence
from itertools import combinations, cycle

ACCURACIES = (0.95, 0.9, 0.85, 0.75, 0.65)
Vote = tuple[int, int, int]


def truths(n_items: int, n_labels: int, rng: random.Random) -> list[int]:
    """Return a true label of each item."""
    return [rng.randrange(n_labels) for _ in range(n_items)]


def all_vote(true: Sequence[int], n_labels: int, rng: random.Random) -> Iterator[Vote]:
    """Yield (item, annotator, label) of all annotators on all items."""
    for item, label in enumerate(true):
        for annotator in range(len(ACCURACIES)):
            yield item, annotator, said(annotator, label, n_labels, rng)


def two_vote(true: Sequence[int], n_labels: int, rng: random.Random) -> Iterator[Vote]:
    """Yield (item, annotator, label) of two annotators on each item, every pair as often."""
    pairs = cycle(combinations(range(len(ACCURACIES)), 2))
    for (item, label), pair in zip(enumerate(true), pairs, strict=False):
        for annotator in pair:
            yield item, annotator, said(annotator, label, n_labels, rng)


def said(annotator: int, label: int, n_labels: int, rng: random.Random) -> int:
    """Return the label that an annotator gives where `label` is true."""
    if rng.random() < ACCURACIES[annotator]:
        return label
    return rng.choice([each for each in range(n_labels) if each != label])
