"""The paper's own tables and figures of a collection, and of a system's predictions for it."""

import random
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from annotation.protocols.quac.analysis import labels
from annotation.protocols.quac.analysis.acts import Acts
from annotation.protocols.quac.analysis.answer_positions import AnswerPositions
from annotation.protocols.quac.analysis.curves import HumanCurves, SystemCurves
from annotation.protocols.quac.analysis.openings import Openings
from annotation.protocols.quac.analysis.people import People
from annotation.protocols.quac.analysis.sizes import Sizes
from annotation.protocols.quac.chunks import Chunks
from annotation.protocols.quac.scoring import read_predictions
from annotation.protocols.quac.turns import Turn, turns_of
from annotation.records.schema import SeedRecord
from annotation.tables.table import Table

if TYPE_CHECKING:
    from annotation.protocols.quac.parameters import Parameters


class Analysis(Protocol):
    """Counts while the turns pass, in memory that does not grow with them."""

    def add(self, turn: Turn) -> None:
        """Count one turn."""

    def tables(self) -> list[Table]:
        """Return what was counted."""


def tables(seeds: Iterable[SeedRecord], parameters: "Parameters") -> list[Table]:
    """Return Table 2, Figures 2, 5 and 6, agreement, and Figure 7 for people; one pass."""
    least, chunks = parameters.agreement.min_human_f1, Chunks(parameters.report.chunks)
    curves = HumanCurves(least, chunks)
    parts = (Sizes(), Openings(), AnswerPositions(chunks), Acts(), People(least), curves)
    return _counted(seeds, parts)


def predicted(
    seeds: Iterable[SeedRecord], parameters: "Parameters", predictions: Path
) -> list[Table]:
    """Return the scores of official predictions and Figure 7 beside people's.

    Raises ScoreError naming the file's line.
    """
    least, chunks = parameters.agreement.min_human_f1, Chunks(parameters.report.chunks)
    return _counted(seeds, (SystemCurves(read_predictions(predictions), least, chunks),))


def sample(
    seeds: Iterable[SeedRecord], parameters: "Parameters", rng: random.Random
) -> list[dict[str, str]]:
    """Return the questions that Table 3 wants labelled by hand."""
    return labels.drawn(seeds, parameters.report.hand_labels, rng)


def labelled(rows: Iterable[Mapping[str, str]], parameters: "Parameters") -> list[Table]:
    """Return Table 3 of the sample with its labels; raises ScoreError naming a row."""
    return [labels.counted(rows)]


def _counted(seeds: Iterable[SeedRecord], parts: Iterable[Analysis]) -> list[Table]:
    for turn in turns_of(seeds):
        for part in parts:
            part.add(turn)
    return [table for part in parts for table in part.tables()]
