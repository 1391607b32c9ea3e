"""Says, while somebody writes, when a reader answers their question from too little text.

The reader is the built-in one, trained beforehand on questions over several texts (Yang et al.
2018): it needs no collection to have questions yet, and takes a few milliseconds.
"""

import json
import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from annotation.metrics.token_overlap import answer_tokens
from readers.example import YES_NO, Example, Text
from readers.light.light_reader import LightReader

WEIGHTS = Path(__file__).with_name("too_little.json")
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
