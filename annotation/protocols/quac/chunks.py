"""A section in twelve chunks of equally many words, and how answers move among them (QuAC 5.1)."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

from annotation.protocols.quac.layout import CANNOT_ANSWER
from annotation.protocols.quac.turns import Turn

# Source: QuAC 5.1, "12 chunks (with a special chunk for no answer)".
N_CHUNKS = 12
NO_ANSWER = N_CHUNKS
# The state before the first question; a row of the matrix, never a column.
BEGINNING = -1
WORD = re.compile(r"\S+")


@lru_cache(maxsize=256)
def words_of(section: str) -> tuple[tuple[int, int], ...]:
    """Return (start, end) of the section's words, in code points."""
    return tuple(match.span() for match in WORD.finditer(section))


def chunk_of(turn: Turn | None) -> int:
    """Return the chunk with the middle of the teacher's answer, NO_ANSWER, or BEGINNING.

    Ours: the paper does not say which point of an answer counts.
    """
    if turn is None:
        return BEGINNING
    return chunk_at(turn.section, turn.teacher.start, turn.teacher.end)


def chunk_at(section: str, start: int | None, end: int | None) -> int:
    """Return the chunk with the middle of a span, NO_ANSWER where there is none."""
    if start is None or end is None:
        return NO_ANSWER
    words = words_of(section)
    word = bisect_right(words, ((start + end) // 2, len(section))) - 1
    return ((max(word, 0) + 1) * N_CHUNKS - 1) // len(words) if words else 0


def chunk_text(section: str, chunk: int) -> str:
    """Return the words of a chunk as they stand in the section, or CANNOTANSWER."""
    words = words_of(section)
    if chunk == NO_ANSWER or not words:
        return CANNOT_ANSWER
    first = chunk * len(words) // N_CHUNKS
    beyond = max((chunk + 1) * len(words) // N_CHUNKS, first + 1)
    return section[words[first][0] : words[beyond - 1][1]]


class Transitions:
    """How often an answer in one chunk was followed by one in another (QuAC, F5b)."""

    def __init__(self, turns: Iterable[Turn] = ()) -> None:
        self.counts: Counter[tuple[int, int]] = Counter()
        for turn in turns:
            self.add(turn)

    def add(self, turn: Turn) -> None:
        """Count the step to this turn's answer."""
        self.counts[chunk_of(turn.previous), chunk_of(turn)] += 1

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
        return min(row, key=lambda to: (-row[to], to)) if row else NO_ANSWER
