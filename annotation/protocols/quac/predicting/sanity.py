"""Sanity checks: what an answer is worth that was found without reading (QuAC 5.1)."""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.protocols.quac.chunks import Transitions, standard
from annotation.protocols.quac.layout import CANNOT_ANSWER
from annotation.protocols.quac.predicting.sentences import texts_of
from annotation.protocols.quac.scoring import Prediction
from annotation.protocols.quac.turns import Turn

Answering = Callable[[Turn], Prediction]
NO_ACT = ""


@dataclass(frozen=True)
class Setting:
    """What a baseline is made from.

    train: the turns of the training file. vectors: those of a file, None for tf-idf.
    """

    train: Sequence[Turn]
    rng: random.Random
    language: str
    vectors: Any = None


def span(text: str) -> Prediction:
    """Return the prediction of a span, or CANNOTANSWER, without dialog acts."""
    return Prediction(text, NO_ACT, NO_ACT)


def random_sentence(setting: Setting) -> Answering:
    """Return what answers with any sentence of the section, or no answer, all equally likely."""

    def answer(turn: Turn) -> Prediction:
        return span(setting.rng.choice([*texts_of(turn.section, setting.language), CANNOT_ANSWER]))

    return answer


def majority(setting: Setting) -> Answering:
    """Return what always answers no answer, with the commonest dialog acts of training."""
    always = Prediction(
        CANNOT_ANSWER,
        _commonest(turn.teacher.affirmation for turn in setting.train),
        _commonest(turn.continuation for turn in setting.train),
    )
    return lambda turn: always


def transition_matrix(setting: Setting) -> Answering:
    """Return what answers with the chunk that most often followed the previous answer's chunk."""
    chunks = standard()
    transitions = Transitions(chunks, setting.train)

    def answer(turn: Turn) -> Prediction:
        return span(chunks.text(turn.section, transitions.likeliest(chunks.of(turn.previous))))

    return answer


def _commonest(labels: Iterable[str]) -> str:
    counts = Counter(labels)
    return min(counts, key=lambda label: (-counts[label], label))
