"""When a question counts: a second person finds the writer's answer, or two find the same."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from annotation.agreement.decision import Decision, Outcome
from collector.retrieval.terms import terms

if TYPE_CHECKING:
    from annotation.protocols.rag.parameters import Parameters

# As the metrics of answers leave them out.
ARTICLES = frozenset(("a", "an", "the"))
SINGLE_PASSAGE = "single_passage"


@dataclass(frozen=True)
class Vote:
    """One person's answer: type answer, none or bad; its short answer, and what proves it.

    passages: (document, place in it) of the evidence. shown: how many passages the question's
    writer was shown, 0 for workers who had only a search box.
    """

    type: str
    short: str = ""
    passages: frozenset[tuple[str, int]] = frozenset()
    shown: int = 0


def vote(type: str, payload: Mapping[str, object]) -> Vote:
    """Return the vote that a stored answer casts."""
    evidence: Any = payload.get("evidence") or ()
    shown: Any = payload.get("shown") or 0
    passages = frozenset((one["document"], one["paragraph"]) for one in evidence)
    return Vote(type, str(payload.get("short") or ""), passages, shown)


def short_f1(one: str, other: str) -> float:
    """Return the F1 of the terms of two short answers; 1.0 for two without any."""
    left, right = _terms(one), _terms(other)
    if not left or not right:
        return float(left == right)
    same = (left & right).total()
    return 2 * same / (left.total() + right.total())


def _terms(short: str) -> Counter[str]:
    found = terms(short)
    return Counter([term for term in found if term not in ARTICLES] or found)


def agree(one: Vote, other: Vote, min_f1: float) -> bool:
    """Return whether two say the same: that the documents do not have it, or one short answer."""
    if one.type == other.type == "answer":
        return short_f1(one.short, other.short) >= min_f1
    return one.type == other.type == "none"


def verdict(votes: Sequence[Vote], parameters: "Parameters", fold: str) -> Decision:
    """Return whether a question is kept, which answer is released, and why.

    votes: where passages were shown to the question's writer, the writer's own answer first; then
    those of people with a search box.
    """
    is_drawn = bool(votes) and votes[0].shown > 0
    stage = parameters.reading if is_drawn else parameters.find
    wanted = stage.redundancy.of(fold) + is_drawn
    if len(votes) < wanted:
        sentence = f"{len(votes)} of {wanted} answers have been given so far."
        return Decision(Outcome.WAITING, "waiting_for_votes", sentence)
    readers = len(votes) - is_drawn
    n_bad = sum(one.type == "bad" for one in votes)
    if n_bad > min(parameters.agreement.max_bad, readers - 1):
        sentence = f"{n_bad} of {readers} readers called the question bad."
        return Decision(Outcome.DROPPED, "marked_bad", sentence)
    return (_of_drawn if is_drawn else _of_natural)(votes, parameters)


def _of_drawn(votes: Sequence[Vote], parameters: "Parameters") -> Decision:
    rule, (writer, *readers) = parameters.agreement, votes
    agreeing = tuple(
        index for index, one in enumerate(votes) if not index or agree(writer, one, rule.min_f1)
    )
    if len(agreeing) < min(rule.min_agreeing, len(votes)):
        return _disagreement(writer, readers, rule.min_f1)
    found = f"{len(agreeing) - 1} of {len(readers)} readers"
    if writer.type == "none":
        sentence = f"{found} found no answer in the documents either."
        return Decision(Outcome.KEPT, "not_in_documents", sentence, 0, agreeing)
    if writer.shown > 1 and any(len(votes[index].passages) == 1 for index in agreeing[1:]):
        sentence = f"{found} found the writer's answer; one passage was enough."
        return Decision(Outcome.KEPT, SINGLE_PASSAGE, sentence, 0, agreeing)
    sentence = f"{found} found the writer's answer."
    return Decision(Outcome.KEPT, "agreed", sentence, 0, agreeing)


def _disagreement(writer: Vote, readers: Sequence[Vote], min_f1: float) -> Decision:
    is_found = any(one.type == "answer" for one in readers)
    if writer.type == "none" and is_found:
        sentence = "Its writer says that the documents do not have it; a reader found an answer."
        return Decision(Outcome.DROPPED, "answered_by_others", sentence)
    if writer.type == "none":
        sentence = "Its writer says that the documents do not have it; too few readers say so too."
        return Decision(Outcome.DROPPED, "no_agreement", sentence)
    if not is_found:
        sentence = "Nobody found the answer who had only the search."
        return Decision(Outcome.DROPPED, "not_found", sentence)
    if any(agree(writer, one, min_f1) for one in readers):
        sentence = "Too few readers found the writer's answer."
        return Decision(Outcome.DROPPED, "no_agreement", sentence)
    sentence = "Who searched for the answer found another one than its writer."
    return Decision(Outcome.DROPPED, "no_agreement", sentence)


def _of_natural(votes: Sequence[Vote], parameters: "Parameters") -> Decision:
    if all(one.type == "none" for one in votes):
        sentence = f"All {len(votes)} readers found no answer in the documents."
        return Decision(Outcome.KEPT, "not_in_documents", sentence, 0, tuple(range(len(votes))))
    rule = parameters.agreement
    groups = {
        index: tuple(
            place
            for place, other in enumerate(votes)
            if place == index or agree(one, other, rule.min_f1)
        )
        for index, one in enumerate(votes)
        if one.type == "answer"
    }
    chosen = max(groups, key=lambda index: len(groups[index]), default=None)
    if chosen is not None and len(groups[chosen]) >= min(rule.min_agreeing, len(votes)):
        sentence = f"{len(groups[chosen])} of {len(votes)} readers found the same answer."
        return Decision(Outcome.KEPT, "readers_agree", sentence, chosen, groups[chosen])
    if not groups:
        sentence = "Some readers found no answer, and others called the question bad."
        return Decision(Outcome.DROPPED, "not_found", sentence)
    if any(one.type == "none" for one in votes):
        sentence = "Some readers found an answer and others none."
        return Decision(Outcome.DROPPED, "not_found", sentence)
    if len(groups) == 1:
        sentence = "Only one reader found an answer; others called the question bad."
        return Decision(Outcome.DROPPED, "no_agreement", sentence)
    sentence = "The readers found different answers."
    return Decision(Outcome.DROPPED, "no_agreement", sentence)
