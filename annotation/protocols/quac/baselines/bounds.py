"""What answers found without reading are worth, and what the gold ones allow (QuAC 5.1, 5.2)."""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.metrics.summation import plain_sum
from annotation.protocols.quac.baselines.sentences import gold_sentence, texts_of
from annotation.protocols.quac.chunks import Transitions, standard
from annotation.protocols.quac.file_format import CANNOT_ANSWER
from annotation.protocols.quac.references import human_f1
from annotation.protocols.quac.scoring import Prediction, threshold_of
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


def gold_no_answer_transition_matrix(setting: Setting) -> Answering:
    """Return the transition matrix's answers, but no answer wherever that is gold."""
    otherwise = transition_matrix(setting)
    return lambda turn: span(CANNOT_ANSWER) if turn.is_unanswerable else otherwise(turn)


def gold_sentence_no_answer(setting: Setting) -> Answering:
    """Return what answers with the sentence nearest to the references, or rightly with none."""

    def answer(turn: Turn) -> Prediction:
        best = gold_sentence(turn, setting.language)
        if best is None:
            return span(CANNOT_ANSWER)
        return span(texts_of(turn.section, setting.language)[best])

    return answer


def human(setting: Setting) -> Answering:
    """Return the teacher's own answers.

    Only `human_totals` scores them rightly: the official script would compare them with
    themselves.
    """
    return lambda turn: Prediction(turn.teacher.text, turn.teacher.affirmation, turn.continuation)


def human_totals(turns: Sequence[Turn], min_f1: float | None) -> dict[str, float]:
    """Return the official keys in percent with each reference held out in turn.

    HEQ is 100 by definition. What the files cannot tell of people, their agreement on dialog
    acts, is in the report of a collection.
    """
    threshold = threshold_of(min_f1)
    scores = [human_f1(turn.references) for turn in turns]
    kept = [score for score in scores if score >= threshold]
    found = {"unfiltered_f1": _percent(scores), "HEQ": 100.0, "DHEQ": 100.0}
    if kept:
        found["f1"] = _percent(kept)
    if any(turn.is_unanswerable for turn in turns):
        found["unanswerable_acc"] = 100.0
    return found


def _percent(scores: Sequence[float]) -> float:
    return 100 * plain_sum(scores) / len(scores)
