"""When a question counts: its writer has answered it, and no person has dropped it in review."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from annotation.agreement.decision import Decision, Outcome

if TYPE_CHECKING:
    from annotation.protocols.hotpotqa.parameters import Parameters


@dataclass(frozen=True)
class Vote:
    """The writer's answer: yes, no, or the marked words."""

    answer: str


def vote(type: str, payload: Mapping[str, object]) -> Vote:
    """Return the vote that a stored answer casts."""
    spans: Any = payload.get("spans") or ()
    return Vote(spans[0]["text"] if type == "span" and spans else type)


def verdict(votes: Sequence[Vote], parameters: "Parameters", fold: str) -> Decision:
    """Return whether a question is kept: what its writer answered is released (HotpotQA 2)."""
    if not votes:
        return Decision(Outcome.WAITING, "waiting_for_the_writer", "Its writer has not answered.")
    sentence = "Who wrote the question has answered it, and proved the answer."
    return Decision(Outcome.KEPT, "answered_by_its_writer", sentence, 0, (0,))
