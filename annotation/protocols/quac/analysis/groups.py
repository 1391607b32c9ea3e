"""By what the paper breaks scores down: turn, distance, length, the act before (QuAC 6, F7)."""

from collections.abc import Callable

from annotation.protocols.quac.analysis.sizes import n_tokens
from annotation.protocols.quac.chunks import Chunks
from annotation.protocols.quac.turns import Turn

# Ours: how wide a class of answer lengths is, and from where on they are one class.
LENGTH_STEP, LONGEST = 5, 26
BEFORE = {"y": (0, "follow up"), "m": (1, "maybe"), "n": (2, "don't")}

# A place to sort by, and the name; None: the question belongs to no group.
Group = tuple[int, str] | None


def by_turn(turn: Turn, chunks: Chunks) -> Group:
    """Return the turn's number, from 1."""
    return turn.number, str(turn.number + 1)


def by_distance(turn: Turn, chunks: Chunks) -> Group:
    """Return how many chunks lie between the answer and the previous one, in either direction."""
    if turn.previous is None or chunks.none in (chunks.of(turn), chunks.of(turn.previous)):
        return None
    distance = abs(chunks.of(turn) - chunks.of(turn.previous))
    return distance, str(distance)


def by_answer_length(turn: Turn, chunks: Chunks) -> Group:
    """Return the class of the teacher's answer by its number of tokens."""
    if turn.teacher.start is None:
        return None
    number = n_tokens(turn.teacher.text, turn.language)
    if number >= LONGEST:
        return LONGEST, f"{LONGEST}+"
    first = (max(number, 1) - 1) // LENGTH_STEP * LENGTH_STEP + 1
    return first, f"{first}-{first + LENGTH_STEP - 1}"


def by_previous_act(turn: Turn, chunks: Chunks) -> Group:
    """Return what the teacher said of going on after the previous question."""
    return None if turn.previous is None else BEFORE.get(turn.previous.continuation)


GROUPS: dict[str, Callable[[Turn, Chunks], Group]] = {
    "turn": by_turn,
    "distance": by_distance,
    "answer-length": by_answer_length,
    "previous-act": by_previous_act,
}
TITLES = {
    "turn": "F1 by turn (Figure 7 of the QuAC paper)",
    "distance": "F1 by chunks from the previous answer (Figure 7 of the QuAC paper)",
    "answer-length": "F1 by tokens of the answer (Figure 7 of the QuAC paper)",
    "previous-act": "F1 and HEQ-Q after each act of continuation (QuAC 6)",
}
