"""What a protocol offers as a seed, and what is planned of it where the protocol plans nothing."""

import hashlib
import random
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from collector.protocols.parameters import FOLDS, Parameters

# What a split is drawn for: a question's "fold", "key", "worker" and what else is known of it.
Example = Mapping[str, object]
# The key of a seed's payload with what it shares with others that must be in the same fold, such as
# the article that they are of; without it a seed shares its fold with equal texts alone.
GROUP = "group"
# Why a question is in the split that was planned for its seed.
PLANNED = "planned_with_the_seed"


@dataclass(frozen=True)
class Candidate:
    """What a protocol offers as a seed: `key` names its content, `text` finds duplicates.

    together: the articles, by id, that its GROUP puts into one split; empty without a group.
    parts: its paragraphs, where a near copy of one is enough to share a fold.
    """

    key: str
    text: str
    paragraphs: tuple[int, ...]
    payload: dict[str, object] = field(default_factory=dict)
    together: tuple[int, ...] = ()
    parts: tuple[str, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """Return the texts of which no near copy is to be in another fold."""
        return self.parts or (self.text,)


@dataclass(frozen=True)
class Offered:
    """Candidates with what their protocol's filters did: (what is left, how many) after each.

    For a protocol with several filters; any other iterable of candidates tells nothing of them.
    """

    candidates: Iterable[Candidate]
    steps: tuple[tuple[str, int], ...]

    def __iter__(self) -> Iterator[Candidate]:
        """Yield the candidates in the order they are to be chosen."""
        return iter(self.candidates)


def step(noun: str, which: str, left: int) -> tuple[str, int]:
    """Return one of the steps of what is offered: which of a noun are left, and how many."""
    return f"{noun if left == 1 else f'{noun}s'} {which}", left


def text_key(text: str) -> str:
    """Return a short key that texts share when they differ in white space at most."""
    return hashlib.sha256(" ".join(text.split()).encode()).hexdigest()[:32]


def no_folds(
    seeds: Iterable[Candidate],
    parameters: Parameters,
    rng: random.Random,
    planned: Mapping[str, int] | None = None,
    fold_of_text: Mapping[str, str] | None = None,
) -> dict[Hashable, str]:
    """Return no fold: which split a seed's questions are for is known later."""
    return {}


def no_passages(
    stage: str, shown: Iterable[tuple[str, int]], answers: Iterable[Mapping[str, object]]
) -> tuple[tuple[str, int], ...]:
    """Return no passage: where a question is placed does not follow from what it rests on."""
    return ()


def as_planned(
    examples: Iterable[Example], parameters: Parameters, rng: random.Random
) -> Iterator[tuple[Example, str, str]]:
    """Yield (example, split, reason): what was planned holds, whatever the verdicts dropped.

    Raises ValueError for an example without one of the folds.
    """
    for example in examples:
        fold = example["fold"]
        if fold not in FOLDS:
            raise ValueError(
                f"{example!r} has the fold {fold!r}, not one of {', '.join(FOLDS)}: "
                "plan its seed before collecting."
            )
        yield example, str(fold), PLANNED
