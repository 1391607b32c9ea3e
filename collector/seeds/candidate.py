"""What a protocol offers as a seed, and the contract of the part that offers it."""

import hashlib
import random
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from collector.candidates.candidate_sets import Pools
from collector.models import Corpus
from collector.protocols.loading import P, Part
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


class SeedsPart(Protocol[P]):
    """seeds.py: which seeds a corpus offers."""

    def candidates(self, corpus: Corpus, parameters: P, rng: random.Random) -> Iterable[Candidate]:
        """Return every possible seed, in an order drawn by `rng`, the same wherever it runs."""


class CuratedSeedsPart(Protocol[P]):
    """seeds.py of a protocol whose seeds are drawn from candidate sets that a person keeps."""

    @property
    def CURATED(self) -> bool:
        """Return True: `candidates` is called with the kept sets."""

    def candidates(
        self, corpus: Corpus, parameters: P, rng: random.Random, pools: Pools
    ) -> Iterable[Candidate]:
        """Return seeds drawn from the kept sets, the same for the same `rng` wherever it runs."""


class JoinsTexts(Protocol):
    """seeds.py of a protocol whose seeds are of several paragraphs."""

    def texts_of(self, texts: Sequence[str]) -> Sequence[str]:
        """Return of a seed's paragraphs the `texts` that its candidate had."""


class ConnectsArticles(Protocol[P]):
    """seeds.py of a protocol whose seeds connect articles, which then share a fold."""

    def candidates_beside(
        self, corpus: Corpus, parameters: P, rng: random.Random, folds: Mapping[int, str]
    ) -> Iterable[Candidate]:
        """Return what `candidates` does where nothing connects articles of two folds.

        folds: of the articles that have one, by id, because earlier seeds show them.
        """


class CountsSeeds(Protocol[P]):
    """seeds.py of a protocol that says what to loosen where there are too few seeds."""

    def counter(self, corpus: Corpus) -> Callable[[P], int] | None:
        """Return what tells how many seeds there would be with some parameters.

        None for a corpus that is too large to count in while a person waits.
        """


class TellsMisfits(Protocol):
    """seeds.py of a protocol that needs a corpus of some kind."""

    def misfit(self, corpus: Corpus) -> str:
        """Return which corpora fit, in a sentence, where this one offers no seed; else ""."""


class SeedsModule(
    SeedsPart[P], JoinsTexts, ConnectsArticles[P], CountsSeeds[P], TellsMisfits, Protocol[P]
):
    """All that is called of seeds.py where nobody keeps candidate sets."""

    @property
    def CURATED(self) -> bool:
        """Return whether seeds are drawn from candidate sets: then see CuratedSeedsPart."""

    @property
    def FOR_DOCUMENTS(self) -> bool:
        """Return whether it is meant for a requester's own documents: it is offered for them."""

    @property
    def NOUN(self) -> str:
        """Return what one seed is called."""

    @property
    def LOOSEST(self) -> Mapping[str, object]:
        """Return looser values of parameters where no whole number tells how much."""


class PlansFolds(Protocol[P]):
    """splits.py of a protocol whose folds are planned with the seeds."""

    def plan(
        self,
        seeds: Iterable[Candidate],
        parameters: P,
        rng: random.Random,
        planned: Mapping[str, int] | None = None,
        fold_of_text: Mapping[str, str] | None = None,
    ) -> Mapping[Hashable, str]:
        """Return the fold of each seed by its key.

        planned: how many seeds each fold has. fold_of_text: the fold of texts that have one, by
        `text_key`, so that equal texts are in one.
        """


class AssignsSplits(Protocol[P]):
    """splits.py of a protocol whose splits are drawn when the verdicts are known."""

    def assign(
        self, examples: Iterable[Example], parameters: P, rng: random.Random
    ) -> Iterator[tuple[Example, str, str]]:
        """Yield (example, split, reason) of the kept questions, each once."""


class RestsOnPassages(Protocol):
    """splits.py of a protocol whose questions are placed by the passages that they rest on."""

    def rests_on(
        self, stage: str, shown: Iterable[tuple[str, int]], answers: Iterable[Mapping[str, object]]
    ) -> Iterable[tuple[str, int]]:
        """Return the passages that a question rests on: each one's document and place in it.

        stage: in which it was asked. shown: its seed's passages. answers: the payloads of those
        that are believed. What is returned is in "rests_on" of the examples of `assign`.
        """


class TellsRule(Protocol):
    """splits.py of a protocol that says in words how it places questions."""

    @property
    def RULE(self) -> str:
        """Return the rule for readers of a release, in a sentence or two."""


class KeysTexts(Protocol):
    """splits.py of a protocol with its own idea of which texts are the same."""

    def text_key(self, text: str) -> str:
        """Return a key that texts share which must not be in two splits."""


class SplitsModule(
    PlansFolds[P], AssignsSplits[P], RestsOnPassages, TellsRule, KeysTexts, Protocol[P]
):
    """All that is called of splits.py; what it leaves out is as planned, or not planned at all."""


def _first(texts: Sequence[str]) -> Sequence[str]:
    """Return the text of a seed whose protocol does not say otherwise: its first paragraph's."""
    return texts[:1]


def _fits(corpus: Corpus) -> str:
    """Return "": any corpus may do for a protocol that does not say otherwise."""
    return ""


SEEDS = Part[SeedsModule[Parameters]](
    "seeds",
    SeedsModule,
    SeedsPart,
    defaults={
        "CURATED": False,
        "FOR_DOCUMENTS": False,
        "NOUN": "paragraph",
        "LOOSEST": {},
        "texts_of": _first,
        "misfit": _fits,
    },
)
CURATED_SEEDS = Part[CuratedSeedsPart[Parameters]]("seeds", CuratedSeedsPart)
SPLITS = Part[SplitsModule[Parameters]](
    "splits",
    SplitsModule,
    defaults={
        "plan": no_folds,
        "assign": as_planned,
        "rests_on": no_passages,
        "RULE": "",
        "text_key": text_key,
    },
)
