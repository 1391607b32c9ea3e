"""Finds out from a question's words what it asks for."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from readers.light.words import STOP, TOKEN, stem

if TYPE_CHECKING:
    import numpy

PERSON, DATE, YEAR, NUMBER, PLACE, CLASS, THING, OTHER, CHOICE, YES_NO = range(10)
KINDS = 10
AUXILIARIES = frozenset(
    "is are was were do does did has have had can could will would should".split()
)
_PLACES = frozenset(
    "city country state county town village nation continent location place island province "
    "region district borough neighborhood neighbourhood suburb area hometown".split()
)
_CLASSES = frozenset(
    "profession occupation nationality genre type types kind kinds sort breed position job role "
    "career style professions occupations genres species genus instrument".split()
)
_HOW_MANY = re.compile(
    r"\bhow (?:many|much|long|old|large|far|tall|big|high|often)\b|\bpopulation\b"
)
_WHEN = re.compile(
    r"\bwhen\b|\b(?:what|which) (?:\w+ )?(?:date|month|day|decade|season)\b|\bbirth ?da(?:te|y)\b|"
    r"\bdate of\b"
)
_YEAR = re.compile(r"\b(?:what|which) (?:\w+ )?year\b")
# Skips the words between the question word and the noun that says what the answer is.
_FOCUS = re.compile(
    r"\b(?:what|which)\b(?:['’]s)?\s+"
    r"(?:(?:is|was|are|were|did|do|does|the|a|an|this|that|of|name|names|these|his|her|other)\s+)*"
    r"([^,?.;:]*)",
    re.IGNORECASE,
)
_FIRST = re.compile(r"\b(?:first|older|oldest|earlier|earliest|before|elder|sooner)\b")
_LAST = re.compile(r"\b(?:later|latest|younger|youngest|newer|more recent(?:ly)?|last)\b")
_LONGEST_FOCUS = 5


@dataclass(frozen=True)
class Question:
    """A question in lower-case words; `weights` of its content stems add up to 1.

    focus: stems that say what the answer is ("british rock band"). head: the last of them, or "".
    order: -1 if it asks for the earlier of two, 1 for the later, else 0. offers: whether it offers
    a choice with "or". inverted: whether it begins like a question for yes or no.
    """

    text: str
    words: tuple[str, ...]
    stems: tuple[str, ...]
    weights: "numpy.ndarray"
    focus: frozenset[str]
    head: str
    kind: int
    order: int
    offers: bool
    inverted: bool


def read_question(text: str, weight: Callable[[str], float]) -> Question:
    """Return the question's parts; weight: how important a stem is, above 0."""
    import numpy

    lowered = text.lower()
    words = tuple(TOKEN.findall(lowered))
    stems = sorted({stem(word) for word in words if word[0].isalnum() and word not in STOP})
    weights = numpy.array([weight(each) for each in stems], dtype=numpy.float64)
    focus = _focus(text)
    offers = "or" in words
    return Question(
        text=lowered,
        words=words,
        stems=tuple(stems),
        weights=weights / (weights.sum() or 1.0),
        focus=frozenset(stem(word) for word in focus),
        head=stem(focus[-1]) if focus else "",
        kind=_kind(lowered, words, focus, offers),
        order=-1 if _FIRST.search(lowered) else 1 if _LAST.search(lowered) else 0,
        offers=offers,
        inverted=words[:1] != () and words[0] in AUXILIARIES,
    )


def _focus(text: str) -> list[str]:
    """Return the run of content words after "what" or "which"."""
    found = _FOCUS.search(text)
    run: list[str] = []
    for word in TOKEN.findall(found[1].lower()) if found else ():
        if word in STOP or not word[0].isalnum() or len(run) == _LONGEST_FOCUS:
            break
        run.append(word)
    return run


def _kind(lowered: str, words: tuple[str, ...], focus: list[str], offers: bool) -> int:
    if words and words[0] in AUXILIARIES:
        return CHOICE if offers else YES_NO
    if offers:
        return CHOICE
    if _YEAR.search(lowered):
        return YEAR
    if _WHEN.search(lowered):
        return DATE
    if _HOW_MANY.search(lowered):
        return NUMBER
    if _CLASSES.intersection(focus):
        return CLASS
    if "where" in words or _PLACES.intersection(focus):
        return PLACE
    if {"who", "whom", "whose"}.intersection(words) and not focus:
        return PERSON
    return THING if focus else OTHER
