"""Cuts a text into sentences with spaCy's blank pipeline for its language."""

from functools import lru_cache
from typing import Any

# Quotes and brackets after a full stop belong to the sentence that they close.
CLOSERS = "\"'”’»)]"
# A full stop after one of these ends no sentence.
ABBREVIATIONS = frozenset(
    "fig no st mr mrs ms dr prof jr sr vs vol approx c ca e.g i.e etc op cit ed eds rev gen col lt "
    "capt sgt gov sen rep hon ave bros co corp inc ltd dept est min max ft lb oz sq mt".split()
)


def version() -> str:
    """Return the name under which boundaries are stored: the library's version and our rules'."""
    import spacy

    return f"spacy-{spacy.__version__}-sentencizer-1"


def split(text: str, language: str) -> list[list[int]]:
    """Return [[start, end], …] in code points: the sentences in order, white space between them."""
    document = _pipeline(language)(text)
    sentences: list[list[int]] = []
    for sentence in document.sents:
        start, end = sentence.start_char, sentence.end_char
        words = text[start:end]
        start += len(words) - len(words.lstrip())
        end -= len(words) - len(words.rstrip())
        if start >= end:
            continue
        if sentences and _belongs(text, sentences[-1], start):
            sentences[-1][1] = end
        else:
            sentences.append([start, end])
    return sentences


def _belongs(text: str, previous: list[int], start: int) -> bool:
    """Return whether the piece at `start` continues the sentence before it."""
    before = text[previous[0] : previous[1]]
    following = text[start]
    last_word = before.rstrip(".").rpartition(" ")[2].lstrip("([\"'").casefold()
    abbreviated = before.endswith(".") and (
        last_word in ABBREVIATIONS or (len(last_word) == 1 and last_word.isalpha())
    )
    return abbreviated or following in CLOSERS or following.islower()


@lru_cache(maxsize=8)
def _pipeline(language: str) -> Any:
    """Return the blank pipeline of a language, or the one for many languages."""
    import spacy

    try:
        pipeline = spacy.blank(language.partition("-")[0])
    except ImportError:
        pipeline = spacy.blank("xx")
    pipeline.add_pipe("sentencizer")
    # Long articles are cut paragraph by paragraph, so the library's guard is not needed.
    pipeline.max_length = 10_000_000
    return pipeline
