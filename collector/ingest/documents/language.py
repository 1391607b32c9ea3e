"""Tells the language of a text, where nobody says it."""

from functools import lru_cache
from typing import Any

# Fewer letters tell too little, and more tell no more.
FEWEST_LETTERS, SAMPLE = 300, 8_000
SURE = 0.8
# Languages that are written so alike that one is often taken for another.
ALIKE = (
    frozenset({"no", "nb", "nn", "da", "sv"}),
    frozenset({"hr", "bs", "sr", "sl", "mk"}),
    frozenset({"id", "ms", "jv"}),
    frozenset({"es", "gl", "pt", "an", "ca", "oc"}),
    frozenset({"cs", "sk"}),
    frozenset({"ru", "uk", "be", "bg"}),
    frozenset({"hi", "mr", "ne"}),
    frozenset({"ar", "ary", "arz", "fa", "ur", "ps", "ug"}),
    frozenset({"en", "pcm", "sco", "simple"}),
    frozenset({"de", "lb", "gsw"}),
    frozenset({"xh", "zu"}),
    frozenset({"nl", "af"}),
)


@lru_cache(maxsize=1)
def load_identifier() -> Any:
    """Return what tells languages apart, loaded once in a process: that takes long."""
    from py3langid import langid

    return langid.LanguageIdentifier.from_model_file(langid.MODEL_FILE, norm_probs=True)


def language_of(text: str) -> str:
    """Return the code of a text's language (ISO 639-1), blank where it cannot be told for sure."""
    sample = text[:SAMPLE]
    if sum(letter.isalpha() for letter in sample) < FEWEST_LETTERS:
        return ""
    code, probability = load_identifier().classify(sample)
    return str(code) if probability >= SURE else ""


def are_alike(one: str, other: str) -> bool:
    """Return whether two codes name one language, or two that are easily taken for each other."""
    first, second = (code.lower().partition("-")[0] for code in (one, other))
    return first == second or any(first in group and second in group for group in ALIKE)
