"""Words of a text that somebody marks, and what must be kept of them."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Phrase:
    """Words of one block of a document; `start` counts code points of that block."""

    document: str
    words: str
    start: int
    occurrence: int = 0

    @property
    def span(self) -> dict[str, Any]:
        """Return what the row must say, for a document of one block."""
        end = self.start + len(self.words)
        return {"document": self.document, "start": self.start, "end": end, "text": self.words}


def phrase(text: str, first: int, count: int, document: str = "main") -> Phrase:
    """Return `count` words of a text, from its word number `first` on."""
    words = text.split(" ")
    chosen = " ".join(words[first : first + count])
    start = len(" ".join(words[:first])) + (1 if first else 0)
    return Phrase(document, chosen, start, occurrences(text, chosen, start))


def occurrences(text: str, words: str, before: int) -> int:
    """Return how often the words begin in the text before a place, overlapping ones too."""
    return sum(text.startswith(words, place) for place in range(before))
