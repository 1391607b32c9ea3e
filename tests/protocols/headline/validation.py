"""When a label counts: most of those who read the headline chose it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from annotation.agreement.decision import Decision, Outcome


def vote(type: str, payload: Mapping[str, Any]) -> str:
    """Return the label."""
    return type


def verdict(votes: Sequence[str], parameters: Any, fold: str) -> Decision:
    """Return whether a headline is kept, and which vote is released: the first of the majority."""
    wanted = getattr(parameters.label.redundancy, fold)
    if len(votes) < wanted:
        sentence = f"{len(votes)} of {wanted} people have labelled it so far."
        return Decision(Outcome.WAITING, "waiting_for_labels", sentence)
    label, number = Counter(votes).most_common(1)[0]
    if number < parameters.agreement.min_agreeing:
        sentence = f"{len(votes)} people chose different labels."
        return Decision(Outcome.DROPPED, "no_majority", sentence)
    agreeing = tuple(index for index, given in enumerate(votes) if given == label)
    sentence = f"{number} of {len(votes)} people chose {label!r}."
    return Decision(Outcome.KEPT, "majority", sentence, agreeing[0], agreeing)
