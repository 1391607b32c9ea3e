"""How simulated workers behave, as probabilities; pure data that protocols act on."""

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Behaviour:
    """Each number is the probability of what its name says, per question, answer or message.

    `careless_question`: leaves in what the page's hints advise against; `partial_evidence`: marks
    a part of what proves it; `wrong_answer`: answers something else than was found; `gives_up`:
    says that there is no answer without having looked; `nonsense`: writes and marks anything at
    all, as long as it can be handed in. In a live dialog: `silent`: does not move at all;
    `leaves`: goes away without a word; `sends_twice`: presses the button again; `cut_off`: loses
    the connection before the answer to a message has come.
    """

    name: str
    careless_question: float = 0.0
    partial_evidence: float = 0.0
    wrong_answer: float = 0.0
    gives_up: float = 0.0
    nonsense: float = 0.0
    silent: float = 0.0
    leaves: float = 0.0
    sends_twice: float = 0.0
    cut_off: float = 0.0


DILIGENT = Behaviour("diligent", partial_evidence=0.15, wrong_answer=0.04)
HASTY = Behaviour(
    "hasty", careless_question=0.25, partial_evidence=0.5, wrong_answer=0.2, gives_up=0.15
)
SPAMMER = Behaviour("spammer", nonsense=1.0)
SILENT = replace(DILIGENT, name="silent", silent=1.0)
LEAVER = replace(DILIGENT, name="leaver", leaves=0.2)
DOUBLE_CLICKER = replace(DILIGENT, name="double-clicker", sends_twice=1.0)
FLAKY = replace(DILIGENT, name="flaky", cut_off=0.3)
BEHAVIOURS = {
    behaviour.name: behaviour
    for behaviour in (DILIGENT, HASTY, SPAMMER, SILENT, LEAVER, DOUBLE_CLICKER, FLAKY)
}
MIXED = "mixed"
# One round of a mixed crowd; larger crowds repeat it.
MIXTURE = (
    *(DILIGENT, DOUBLE_CLICKER, HASTY, DILIGENT, FLAKY),
    *(SPAMMER, DILIGENT, DOUBLE_CLICKER, HASTY, FLAKY),
)


def behaviour_of(name: str, number: int) -> Behaviour:
    """Return the behaviour of worker `number`, counted from 0, in a crowd of kind `name`."""
    return MIXTURE[number % len(MIXTURE)] if name == MIXED else BEHAVIOURS[name]
