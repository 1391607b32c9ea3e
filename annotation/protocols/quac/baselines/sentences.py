"""The sentences of a section, the candidates of every baseline that answers with one."""

from functools import lru_cache

from annotation.protocols.quac.references import system_f1
from annotation.protocols.quac.turns import Turn
from collector.ingest.segmentation import split


@lru_cache(maxsize=64)
def sentences_of(section: str, language: str) -> tuple[tuple[int, int], ...]:
    """Return (start, end) of the section's sentences, in code points."""
    return tuple((start, end) for start, end in split(section, language))


def texts_of(section: str, language: str) -> list[str]:
    """Return the sentences of a section as they stand in it."""
    return [section[start:end] for start, end in sentences_of(section, language)]


def gold_sentence(turn: Turn, language: str) -> int | None:
    """Return the place of the sentence with the best F1, the first of equal ones (QuAC 5.2).

    None for an unanswerable question, and where no sentence shares a word with a reference.
    """
    if turn.is_unanswerable:
        return None
    references = turn.references
    scores = [system_f1(text, references) for text in texts_of(turn.section, language)]
    best = max(scores, default=0.0)
    return scores.index(best) if best > 0 else None
