"""Words of questions and texts, and the spans of a text that may be an answer."""

import re
from collections.abc import Iterator
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


NAME, CHUNK, NUMBER, DATE, QUOTED, TITLE = range(6)
KINDS = 6
MONTHS = frozenset(
    "january february march april may june july august september october november december".split()
)
YEAR = re.compile(r"^(1\d{3}|20\d{2})$")
# Words that no answer begins or ends with.
_OUTSIDE = frozenset(
    "in on at by for to from as of and or with his her he she it its they their this that is was "
    "are were who which after before during , since until when while also but not into".split()
)
_CLOSING = frozenset('.!?)"')
_JOINTS = frozenset(
    "of the and de la le du von van der di da del & for in at to on - ' . , a".split()
)
_SMALL_JOINTS = 3
_PARTS = 3
_LONGEST_NAME = 12
_LONGEST_CHUNK = 4
_LONGEST_INITIAL = 2
_DATE = re.compile(
    r"(?:\d{1,2} )?(?:January|February|March|April|May|June|July|August|September|October|"
    r"November|December)(?: \d{1,2}\b)?(?:,? \d{4})?"
)
_QUOTED = re.compile(r"[\"“«]([^\"“”«»]{2,80})[\"”»]")
_RANGE = re.compile(r"\b\d{4}\s?(?:to|until|and|–|-)\s?\d{4}\b")

Span = tuple[int, int, int]


def candidates(words: list[str], places: list[tuple[int, int]], text: str) -> list[Span]:
    """Return (first token, token after the last, kind) of every candidate, each span once.

    words, places: the tokens of `text`. Earlier kinds win where two find the same span.
    """
    found: dict[tuple[int, int], int] = {}
    for first, last in _by_pattern(_DATE, places, text):
        found.setdefault((first, last), DATE)
    for first, last in _by_pattern(_RANGE, places, text):
        found.setdefault((first, last), DATE)
    for first, last in _names(words):
        found.setdefault((first, last), NAME)
    for first, last in _by_pattern(_QUOTED, places, text, group=1):
        found.setdefault((first, last), QUOTED)
    for first, last in _numbers(words):
        found.setdefault((first, last), NUMBER)
    for first, last in _chunks(words):
        found.setdefault((first, last), CHUNK)
    begins = [word.lower() not in _OUTSIDE for word in words]
    ends = [fits and word[-1].isalnum() for fits, word in zip(begins, words, strict=True)]
    return [
        (first, last, kind)
        for (first, last), kind in found.items()
        if begins[first] and (ends[last - 1] or (last - first > 1 and words[last - 1] in _CLOSING))
    ]


def _by_pattern(
    pattern: re.Pattern[str], places: list[tuple[int, int]], text: str, group: int = 0
) -> Iterator[tuple[int, int]]:
    """Yield the tokens that each match covers, where it begins and ends with whole ones."""
    found = list(pattern.finditer(text))
    if not found:
        return
    starts = {start: number for number, (start, _) in enumerate(places)}
    ends = {end: number + 1 for number, (_, end) in enumerate(places)}
    for match in found:
        first, last = starts.get(match.start(group)), ends.get(match.end(group))
        if first is not None and last is not None and first < last:
            yield first, last


def _names(words: list[str]) -> Iterator[tuple[int, int]]:
    """Yield runs of capitalised words, whole with their joints, and the parts between joints."""
    n, at = len(words), 0
    while at < n:
        if not _is_capital(words[at]):
            at += 1
            continue
        last = at + 1
        parts = [at]
        while last < n and last - at < _LONGEST_NAME:
            if _is_capital(words[last]) or words[last][0].isdigit():
                last += 1
                continue
            over = last
            while over < n and over - last < _SMALL_JOINTS and _joins(words, over):
                over += 1
            if over == last or over >= n or not _is_capital(words[over]):
                break
            parts += [last, over]
            last = over + 1
        yield from _of_run(at, last, parts)
        at = last


def _of_run(first: int, last: int, parts: list[int]) -> Iterator[tuple[int, int]]:
    """Yield a run, and what up to three of its neighbouring parts make together.

    parts: where the run's parts begin and end in turn, the end of the last one left out.
    """
    starts, ends = parts[::2], [*parts[1::2], last]
    yield first, last
    for at, start in enumerate(starts):
        for end in ends[at : at + _PARTS]:
            yield start, end
    if last - first > 1:
        # "The" of a sentence's beginning, or the year at the end, may be no part of the name.
        yield first + 1, last
        yield first, last - 1
        yield last - 1, last


def _numbers(words: list[str]) -> Iterator[tuple[int, int]]:
    for at, word in enumerate(words):
        if word[0].isdigit():
            yield at, at + 1
            for last in (at + 2, at + 3):
                if last > len(words) or not words[last - 1][0].isalpha():
                    break
                yield at, last


def _chunks(words: list[str]) -> Iterator[tuple[int, int]]:
    """Yield the spans of content words between stop words and signs."""
    at, n = 0, len(words)
    content = [word[0].isalnum() and word.lower() not in STOP for word in words]
    while at < n:
        last = at
        while last < n and content[last]:
            last += 1
        for first in range(at, last):
            for end in range(first + 1, min(last, first + _LONGEST_CHUNK) + 1):
                yield first, end
        at = last + 1


def _joins(words: list[str], at: int) -> bool:
    """Return whether names go on after the word; a full stop joins initials alone."""
    word = words[at]
    return word in _JOINTS and (word != "." or len(words[at - 1]) <= _LONGEST_INITIAL)


def _is_capital(word: str) -> bool:
    return word[0].isupper()
