"""When a question of a dialog counts: the dialog was long enough, its validators have answered."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from annotation.agreement.decision import Decision, Outcome
from annotation.protocols.quac.file_format import CANNOT_ANSWER
from annotation.protocols.quac.turns import counted, human_f1

if TYPE_CHECKING:
    from annotation.protocols.quac.parameters import Parameters


@dataclass(frozen=True)
class Vote:
    """One teacher's or validator's answer.

    text: the span, or CANNOTANSWER. n_pairs: of the whole dialog, None of a validator.
    """

    text: str
    n_pairs: int | None = None


def vote(type: str, payload: Mapping[str, object]) -> Vote:
    """Return the vote that a stored answer casts."""
    spans: Any = payload.get("spans") or ()
    text = spans[0]["text"] if type == "span" and spans else CANNOT_ANSWER
    return Vote(text, cast(int | None, payload.get("n_pairs")))


def verdict(votes: Sequence[Vote], parameters: "Parameters", fold: str) -> Decision:
    """Return whether a question is kept; the teacher's answer is the released one (QuAC 2.2).

    votes: the teacher's, and those of the validators, in submission order; or none at all.
    parameters: read are dialog.min_pairs and validation.redundancy.<fold>. Disagreement drops
    nothing: questions on which people agree too little are left out of the scores only (QuAC 4.1).
    """
    if not votes:
        return Decision(Outcome.WAITING, "waiting_for_the_dialog", "The dialog is not over yet.")
    teachers = [index for index, vote in enumerate(votes) if vote.n_pairs is not None]
    teacher = teachers[0]
    n_pairs = votes[teacher].n_pairs or 0
    least = parameters.dialog.min_pairs
    if n_pairs < least:
        sentence = f"The dialog has {n_pairs} answered questions; {least} are needed."
        return Decision(Outcome.DROPPED, "short_dialog", sentence)
    wanted = parameters.validation.redundancy.of(fold)
    have = len(votes) - len(teachers)
    if have < wanted:
        sentence = f"{have} of {wanted} validators have answered so far."
        return Decision(Outcome.WAITING, "waiting_for_validators", sentence)
    return _kept(votes, teacher)


def _kept(votes: Sequence[Vote], teacher: int) -> Decision:
    """Return the verdict that releases the teacher's answer with everybody's beside it."""
    texts = [vote.text for vote in votes]
    agreeing = tuple(index for index, text in enumerate(texts) if text == texts[teacher])
    if len(votes) == 1:
        sentence = "The teacher answered it; in training nobody else is asked."
        return Decision(Outcome.KEPT, "single_teacher", sentence, teacher, (teacher,))
    references = counted(texts)
    if references == [CANNOT_ANSWER]:
        sentence = f"{texts.count(CANNOT_ANSWER)} of {len(votes)} people found no answer."
    else:
        score = human_f1(references)
        sentence = f"{len(votes)} people answered it; their F1 with one another is {score:.2f}."
    return Decision(Outcome.KEPT, "validated", sentence, teacher, agreeing)
