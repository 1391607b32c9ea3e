"""A section in chunks of equally many words, and groups of questions by them (QuAC 5.1, 6, F7)."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache

from annotation.protocols.quac.file_format import CANNOT_ANSWER
from annotation.protocols.quac.parameters import defaults
from annotation.protocols.quac.turns import Turn
from collector.ingest.segmentation import n_tokens as count_of_tokens

# The state before the first question; a row of the matrix, never a column.
BEGINNING = -1
WORD = re.compile(r"\S+")


@lru_cache(maxsize=256)
def words_of(section: str) -> tuple[tuple[int, int], ...]:
    """Return (start, end) of the section's words, in code points."""
    return tuple(match.span() for match in WORD.finditer(section))


@lru_cache(maxsize=1024)
def n_tokens(text: str, language: str) -> int:
    """Return the number of tokens, as the limit on an answer's length counts them."""
    return count_of_tokens(text, language)


@dataclass(frozen=True)
class Chunks:
    """A way to cut sections: into `number` chunks, counted from 0."""

    number: int

    @property
    def none(self) -> int:
        """Return the special chunk of no answer, which comes after all others."""
        return self.number

    def of(self, turn: Turn | None) -> int:
        """Return the chunk with the middle of the teacher's answer, `none`, or BEGINNING.

        Ours: the paper does not say which point of an answer counts.
        """
        if turn is None:
            return BEGINNING
        return self.at(turn.section, turn.teacher.start, turn.teacher.end)

    def at(self, section: str, start: int | None, end: int | None) -> int:
        """Return the chunk with the middle of a span, `none` where there is no span."""
        if start is None or end is None:
            return self.none
        words = words_of(section)
        word = bisect_right(words, ((start + end) // 2, len(section))) - 1
        return ((max(word, 0) + 1) * self.number - 1) // len(words) if words else 0

    def text(self, section: str, chunk: int) -> str:
        """Return the words of a chunk as they stand in the section, or CANNOTANSWER."""
        words = words_of(section)
        if chunk == self.none or not words:
            return CANNOT_ANSWER
        first = chunk * len(words) // self.number
        beyond = max((chunk + 1) * len(words) // self.number, first + 1)
        return section[words[first][0] : words[beyond - 1][1]]


def standard() -> Chunks:
    """Return the paper's chunks, for what is scored without a collection."""
    return Chunks(defaults().report.chunks)


class Transitions:
    """How often an answer in one chunk was followed by one in another (QuAC, F5b)."""

    def __init__(self, chunks: Chunks, turns: Iterable[Turn] = ()) -> None:
        self.chunks = chunks
        self.counts: Counter[tuple[int, int]] = Counter()
        for turn in turns:
            self.add(turn)

    def add(self, turn: Turn) -> None:
        """Count the step to this turn's answer."""
        self.counts[self.chunks.of(turn.previous), self.chunks.of(turn)] += 1

    def likeliest(self, before: int) -> int:
        """Return the chunk that followed most often, the earliest of equal ones.

        Ours: the most frequent one, not one drawn by frequency. Where training never saw the
        state before, all steps count.
        """
        row: Counter[int] = Counter()
        known = any(came == before for came, _ in self.counts)
        for (came, to), number in self.counts.items():
            if came == before or not known:
                row[to] += number
        return min(row, key=lambda to: (-row[to], to)) if row else self.chunks.none


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
