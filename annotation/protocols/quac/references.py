"""Several teachers' answers to one question: which of them count, and how people do by them."""

from collections.abc import Sequence

from annotation.metrics.squad import token_f1
from annotation.metrics.summation import plain_sum

CANNOT_ANSWER = "CANNOTANSWER"


def counted(texts: Sequence[str]) -> list[str]:
    """Return the references a question is scored against (QuAC 4.1, as the official script does).

    Either one CANNOTANSWER, where at least as many teachers found no answer as found one, or
    every span, repeated ones included.
    """
    spans = [text for text in texts if text != CANNOT_ANSWER]
    return spans if len(spans) * 2 > len(texts) else [CANNOT_ANSWER]


def f1(prediction: str, reference: str) -> float:
    """Return the word F1; an unanswerable question is answered by exactly CANNOTANSWER."""
    if reference == CANNOT_ANSWER:
        return float(prediction == reference)
    return token_f1(prediction, reference)


def human_f1(references: Sequence[str]) -> float:
    """Return the mean over the references of their best F1 against the others; 1.0 for one."""
    best = [_held_out(at, references) for at in range(len(references))]
    return plain_sum(best) / len(best)


def person_f1(at: int, texts: Sequence[str]) -> float:
    """Return how one person's answer, taken as a system's, does by the others' (QuAC 5.2).

    texts: everybody's; `at` is the person's. The references are the question's own, so that
    whoever the majority outvotes on whether there is an answer has 0, as a system would.
    """
    references = counted(texts)
    if (texts[at] == CANNOT_ANSWER) != (references == [CANNOT_ANSWER]):
        return 0.0
    # Of equal texts it does not matter which is held out.
    return _held_out(references.index(texts[at]), references)


def _held_out(left_out: int, references: Sequence[str]) -> float:
    """Return the best F1 of a reference against the others; 1.0 where there is none."""
    if len(references) == 1:
        return 1.0
    return max(
        f1(references[left_out], other) for at, other in enumerate(references) if at != left_out
    )


def system_f1(prediction: str, references: Sequence[str]) -> float:
    """Return the prediction's best F1, averaged over the sets with one reference left out.

    So a system is compared with as many references as each person is (QuAC 4.1).
    """
    scores = [f1(prediction, reference) for reference in references]
    if len(scores) == 1:
        return scores[0]
    best = [max(scores[:left_out] + scores[left_out + 1 :]) for left_out in range(len(scores))]
    return plain_sum(best) / len(best)
