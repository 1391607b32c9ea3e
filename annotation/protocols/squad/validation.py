"""When a question counts: others find what its writer marked, or nothing, as its writer says."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from annotation.agreement.decision import Decision, Outcome

if TYPE_CHECKING:
    from annotation.protocols.squad.parameters import Parameters


@dataclass(frozen=True)
class Vote:
    """One person's answer: type span, none or bad; where the words begin and end, for a span."""

    type: str
    start: int = 0
    end: int = 0


def vote(type: str, payload: Mapping[str, object]) -> Vote:
    """Return the vote that a stored answer casts."""
    spans: Any = payload.get("spans") or ()
    return Vote(type, spans[0]["start"], spans[0]["end"]) if spans else Vote(type)


def agree(one: Vote, other: Vote) -> bool:
    """Return whether two say the same: that there is no answer, or words that overlap."""
    if one.type == other.type == "span":
        return one.start < other.end and other.start < one.end
    return one.type == other.type == "none"


def verdict(votes: Sequence[Vote], parameters: "Parameters", fold: str) -> Decision:
    """Return whether a question is kept; what its writer says is released, or nothing.

    votes: the writer's own answer first, then those of others. A question that nobody else is to
    answer counts with its writer's answer.
    """
    wanted = 1 + parameters.answer.redundancy.of(fold)
    if len(votes) < wanted:
        sentence = f"{len(votes)} of {wanted} people have answered so far, the writer included."
        return Decision(Outcome.WAITING, "waiting_for_votes", sentence)
    if len(votes) == 1:
        sentence = "Nobody else is asked: its writer's answer is released."
        return Decision(Outcome.KEPT, "answered_by_its_writer", sentence, 0, (0,))
    n_bad = sum(one.type == "bad" for one in votes)
    if n_bad > min(parameters.agreement.max_bad, len(votes) - 2):
        sentence = f"{n_bad} of {len(votes)} people marked the question as bad."
        return Decision(Outcome.DROPPED, "marked_bad", sentence)
    agreeing = tuple(index for index, one in enumerate(votes) if agree(votes[0], one))
    if len(agreeing) < min(parameters.agreement.min_agreeing, len(votes)):
        return _disagreement(votes)
    what = "found no answer either" if votes[0].type == "none" else "marked the writer's answer"
    sentence = f"{len(agreeing) - 1} of {len(votes) - 1} others {what}."
    return Decision(Outcome.KEPT, "agreed", sentence, 0, agreeing)


def _disagreement(votes: Sequence[Vote]) -> Decision:
    others = [one.type for one in votes[1:]]
    if votes[0].type == "none" and "span" in others:
        sentence = "Its writer says that the passage does not answer it; others found an answer."
        return Decision(Outcome.DROPPED, "answered_by_others", sentence)
    if votes[0].type == "span" and "none" in others:
        sentence = "Its writer marked an answer that others did not find."
        return Decision(Outcome.DROPPED, "not_found_by_others", sentence)
    if votes[0].type == "none":
        sentence = "Its writer says that the passage does not answer it; too few others say so too."
        return Decision(Outcome.DROPPED, "no_agreement", sentence)
    sentence = "Others marked something else than its writer."
    return Decision(Outcome.DROPPED, "no_agreement", sentence)
