"""Words of questions and texts as the light reader compares them."""

import re
from functools import lru_cache

TOKEN = re.compile(r"\d+(?:[.,]\d+)+|\w+(?:[-'’.&]\w+)*|[^\w\s]")
# Too frequent in any text to tell what a question is about.
STOP = frozenset(
    "a an and are as at be been being but by can could did do does for from had has have he her "
    "hers him his how i if in into is it its may might more most no nor not of on or other our "
    "out over she should so some such than that the their them then there these they this those "
    "to too under up was we were what when where which while who whom whose why will with would "
    "you your also both about after before between during same either whether yes ' ’s s".split()
)
_ENDINGS = ("ations", "ation", "ings", "ing", "ers", "ies", "ed", "es", "er", "ly", "s", "y", "e")
# What stays of a word after its ending is taken off.
_STEM = 4


def tokens(text: str) -> list[tuple[int, int]]:
    """Return (start, end) of every word and sign of the text, in code points."""
    return [found.span() for found in TOKEN.finditer(text)]


@lru_cache(maxsize=1 << 18)
def stem(word: str) -> str:
    """Return what forms of one word share: lower case, without a frequent ending."""
    word = word.lower().removesuffix("'s").removesuffix("’s")
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _STEM:
            return word[: -len(ending)]
    return word


def content(text: str) -> set[str]:
    """Return the stems of the words that say what a text is about."""
    return {
        stem(word)
        for word in TOKEN.findall(text)
        if (word[0].isalnum() or len(word) > 1) and word.lower() not in STOP
    }
