"""When a question counts: another person has answered it and found nothing wrong with it."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from annotation.agreement.decision import Decision, Outcome

if TYPE_CHECKING:
    from annotation.protocols.bookqa.parameters import Parameters


class Vote(NamedTuple):
    """What one person answered, and why it could not be answered, if so."""

    answer: str
    doubt: str


def vote(type: str, payload: Mapping[str, object]) -> Vote:
    """Return the answer and the doubt."""
    fields = payload["fields"]
    assert isinstance(fields, Mapping)
    return Vote(str(fields.get("answer", "")), str(fields.get("doubt", "")))


def verdict(votes: Sequence[Vote], parameters: "Parameters", fold: str) -> Decision:
    """Return whether a question is kept, and which answer stands beside its writer's: the first.

    Two answers in free words need not agree: both are references. One doubt drops the question.
    """
    wanted = getattr(parameters.answer.redundancy, fold)
    if len(votes) < wanted:
        sentence = f"{len(votes)} of {wanted} other people have answered it so far."
        return Decision(Outcome.WAITING, "waiting_for_answers", sentence)
    doubts = [one.doubt for one in votes if one.doubt.strip()]
    if doubts:
        sentence = f"Somebody could not answer it from the summary: {doubts[0]}"
        return Decision(Outcome.DROPPED, "cannot_be_answered", sentence)
    agreeing = tuple(range(len(votes)))
    sentence = f"Answered by {len(votes)} other " + ("person." if len(votes) == 1 else "people.")
    return Decision(Outcome.KEPT, "answered_again", sentence, 0, agreeing)
