"""How simulated workers behave, as probabilities; pure data that protocols act on."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Behaviour:
    """Each number is the probability of what its name says, per question or answer.

    `careless_question`: leaves in what the page's hints advise against; `partial_evidence`: marks
    a part of what proves it; `wrong_answer`: answers something else than was found; `gives_up`:
    says that there is no answer without having looked; `nonsense`: writes and marks anything at
    all, as long as it can be handed in.
    """

    name: str
    careless_question: float = 0.0
    partial_evidence: float = 0.0
    wrong_answer: float = 0.0
    gives_up: float = 0.0
    nonsense: float = 0.0


DILIGENT = Behaviour("diligent", partial_evidence=0.15, wrong_answer=0.04)
HASTY = Behaviour(
    "hasty", careless_question=0.25, partial_evidence=0.5, wrong_answer=0.2, gives_up=0.15
)
SPAMMER = Behaviour("spammer", nonsense=1.0)
BEHAVIOURS = {behaviour.name: behaviour for behaviour in (DILIGENT, HASTY, SPAMMER)}
MIXED = "mixed"
# One round of a mixed crowd; larger crowds repeat it.
MIXTURE = (
    *(DILIGENT, DILIGENT, HASTY, DILIGENT, DILIGENT),
    *(SPAMMER, DILIGENT, DILIGENT, HASTY, DILIGENT),
)


def behaviour_of(name: str, number: int) -> Behaviour:
    """Return the behaviour of worker `number`, counted from 0, in a crowd of kind `name`."""
    return MIXTURE[number % len(MIXTURE)] if name == MIXED else BEHAVIOURS[name]
