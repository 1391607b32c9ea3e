"""The paper's own tables and figures of a collection, and of a system's predictions for it."""

import random
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from annotation.protocols.hotpotqa.analysis import labels
from annotation.protocols.hotpotqa.analysis.answer_types import AnswerTypes
from annotation.protocols.hotpotqa.analysis.examples import Example, examples_of
from annotation.protocols.hotpotqa.analysis.pairs_by_set import PairsBySet
from annotation.protocols.hotpotqa.analysis.question_words import QuestionWords
from annotation.protocols.hotpotqa.analysis.ranks import Ranks
from annotation.protocols.hotpotqa.analysis.scores import People, Systems
from annotation.protocols.hotpotqa.analysis.sizes import Sizes
from annotation.protocols.hotpotqa.scoring import read_predictions
from annotation.records.schema import SeedRecord
from annotation.tables.table import Table

if TYPE_CHECKING:
    from annotation.protocols.hotpotqa.parameters import Parameters


class Analysis(Protocol):
    """Counts while the examples pass."""

    def add(self, example: Example) -> None:
        """Count one example."""

    def tables(self) -> list[Table]:
        """Return what was counted."""


def tables(seeds: Iterable[SeedRecord], parameters: "Parameters") -> list[Table]:
    """Return Tables 1, 5, 8 and 9, Figures 2 and 5, lengths, answers and skips; one pass."""
    drawn = PairsBySet()
    ranks = Ranks(parameters.contexts.compared_questions)
    parts = (Sizes(), QuestionWords(), AnswerTypes(), ranks, People())
    return [*_counted(_watched(seeds, drawn), parts), *drawn.tables()]


def predicted(
    seeds: Iterable[SeedRecord], parameters: "Parameters", predictions: Path
) -> list[Table]:
    """Return the scores of official predictions by split and type (Tables 4 and 6).

    Raises ScoreError naming the file.
    """
    return _counted(seeds, (Systems(read_predictions(predictions)),))


def sample(
    seeds: Iterable[SeedRecord], parameters: "Parameters", rng: random.Random
) -> list[dict[str, str]]:
    """Return the examples that Tables 2 and 3 want labelled by hand."""
    return labels.drawn(examples_of(seeds), parameters.report.hand_labels, rng)


def labelled(rows: Iterable[Mapping[str, str]], parameters: "Parameters") -> list[Table]:
    """Return Tables 3 and 2 of the sample with its labels; raises ScoreError naming a row."""
    return labels.counted(rows)


def _watched(seeds: Iterable[SeedRecord], drawn: PairsBySet) -> Iterator[SeedRecord]:
    for seed in seeds:
        drawn.add(seed)
        yield seed


def _counted(seeds: Iterable[SeedRecord], parts: Iterable[Analysis]) -> list[Table]:
    for example in examples_of(seeds):
        for part in parts:
            part.add(example)
    return [table for part in parts for table in part.tables()]
