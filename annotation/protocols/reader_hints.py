"""What a light reader tells a writer: that less text is enough, or one paragraph alone."""

import json
import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from annotation.metrics.token_overlap import answer_tokens
from readers.light.light_reader import LightReader
from readers.light.words import content, stem
from readers.reader import YES_NO, Example, Text

# A paragraph that does not know so large a part of the question cannot answer it alone.
KNOWN = 0.85
MIN_WORDS = 3


def answers_alone(
    question: str, answer: str, titles: Sequence[str], texts: Sequence[str]
) -> int | None:
    """Return the place of the paragraph that seems to give the answer alone, None if none does.

    titles, texts: of the paragraphs, in one order. A yes or no is given by one paragraph alone
    when the question speaks of the other in no word.
    """
    asked = content(question) - {stem(word) for word in answer_tokens(answer)}
    if len(asked) < MIN_WORDS or not answer.strip():
        return None
    known = [content(f"{title}\n{text}") & asked for title, text in zip(titles, texts, strict=True)]
    for place, words in enumerate(known):
        others = set().union(*(known[:place] + known[place + 1 :]))
        enough = len(words) >= KNOWN * len(asked)
        if enough and not others - words and _gives(answer, texts[place]):
            if answer.strip().lower() in YES_NO and any(
                content(title) & asked for at, title in enumerate(titles) if at != place
            ):
                continue
            return place
    return None


def _gives(answer: str, text: str) -> bool:
    """Return whether the text holds the answer; a yes or no can come from any text."""
    if answer.strip().lower() in YES_NO:
        return True
    wanted = " ".join(answer_tokens(answer))
    return f" {wanted} " in f" {' '.join(answer_tokens(text))} "


WEIGHTS = Path(__file__).with_name("reader_hints.json")
# Where one sentence ends and the next begins, as far as signs and capitals tell.
_SENTENCE = re.compile(r"(?<=[.!?])[\"”’)]*\s+(?=[\"“‘(]?[A-Z0-9])")


def confidence(question: str, answer: str, title: str, text: str) -> float:
    """Return how probable a reader of this text alone holds the answer; 0 for yes and no.

    What is asked with yes and no is guessed right half of the time: that proves nothing.
    """
    wanted = answer_tokens(answer)
    if not wanted or answer.strip().lower() in YES_NO or not question.strip():
        return 0.0
    found = _answers(question, title, text)
    return sum(share for words, share in found if answer_tokens(words) == wanted)


def surest(question: str, title: str, text: str) -> tuple[str, float]:
    """Return the words of the text that a reader holds most probable, and how probable."""
    found = [each for each in _answers(question, title, text) if each[0] not in YES_NO]
    return max(found, key=lambda each: each[1], default=("", 0.0))


def sentences_of(text: str) -> list[str]:
    """Return the sentences of a text."""
    return _SENTENCE.split(text)


@lru_cache(maxsize=512)
def _answers(question: str, title: str, text: str) -> Sequence[tuple[str, float]]:
    """Return answers with how probable they are; kept, for a page asks again at every pause."""
    places = [found.end() for found in _SENTENCE.finditer(text)]
    bounds = [0, *places, len(text)]
    read = Text(title, text, tuple(pairwise(bounds)))
    return tuple(_reader().answers(Example("", question, (read,))).items())


@lru_cache(maxsize=1)
def _reader() -> LightReader:
    return LightReader.from_json(json.loads(WEIGHTS.read_text("utf-8")))
