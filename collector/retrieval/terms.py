"""Words, n-grams and terms of texts, and which texts are nearly the same.

They are of the script, not of a language: an Arabic name in an English text is found as well.
"""

import re
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any
from zlib import crc32

from collector.array_files import numpy

BUCKET_BITS = 24
N_BUCKETS = 1 << BUCKET_BITS
# Not a letter of any word, so that two words joined by it are no third.
JOINT = " "
FINAL_SIGMA = "Σ"
# Patterns of these alone are several times faster.
BASIC_PLANE = 0xFFFF
_BEYOND = re.compile("[\U00010000-\U0010ffff]")
# The English function words and clitics that DrQA's retriever leaves out.
STOP_WORDS = frozenset(
    "i me my myself we our ours ourselves you your yours yourself yourselves he him his himself "
    "she her hers herself it its itself they them their theirs themselves what which who whom "
    "this that these those am is are was were be been being have has had having do does did doing "
    "a an the and but if or because as until while of at by for with about against between into "
    "through during before after above below to from up down in out on off over under again "
    "further then once here there when where why how all any both each few more most other some "
    "such no nor not only own same so than too very s t can will just don should now d ll m o re "
    "ve y ain aren couldn didn doesn hadn hasn haven isn ma mightn mustn needn shan shouldn wasn "
    "weren won wouldn 'll 're 've n't 's 'd 'm '' ``".split()
)


def words(text: str) -> list[str]:
    """Return the words of a text in lower case: runs of letters, numbers and marks, or one sign.

    Compared in the canonical decomposition. Separators, controls and formats are no words.
    """
    decomposed = unicodedata.normalize("NFD", text)
    if FINAL_SIGMA in decomposed:
        # Its small letter depends on where the word ends.
        return [word.lower() for word in _pattern(sys.maxunicode).findall(decomposed)]
    highest = BASIC_PLANE if _BEYOND.search(decomposed) is None else sys.maxunicode
    return _pattern(highest).findall(decomposed.lower())


def counts(word: str) -> bool:
    """Return whether a word makes n-grams: it is no stop word and not punctuation alone."""
    return word not in STOP_WORDS and not all(
        unicodedata.category(character).startswith("P") for character in word
    )


def grams(text: str) -> list[str]:
    """Return the single words and pairs of neighbours that count, as often as they occur."""
    found = words(text)
    kept = [counts(word) for word in found]
    singles_and_pairs = []
    for at, word in enumerate(found):
        if kept[at]:
            singles_and_pairs.append(word)
            if at + 1 < len(found) and kept[at + 1]:
                singles_and_pairs.append(word + JOINT + found[at + 1])
    return singles_and_pairs


def bucket(gram: str) -> int:
    """Return the number from 0 to 2^24 - 1 under which an n-gram is weighed."""
    from murmurhash.mrmr import hash_unicode

    return int(hash_unicode(gram)) % N_BUCKETS


@lru_cache(maxsize=2)
def _pattern(highest: int) -> re.Pattern[str]:
    """Return what finds the words of texts without any character above `highest`."""
    in_words, alone = [], []
    for code in range(highest + 1):
        kind = unicodedata.category(chr(code))[0]
        if kind in "LNM":
            in_words.append(code)
        elif kind in "PS":
            alone.append(code)
    return re.compile(f"[{_ranges(in_words)}]+|[{_ranges(alone)}]")


def _ranges(codes: list[int]) -> str:
    """Return the inside of a character class of these code points, ascending."""
    parts: list[list[int]] = []
    for code in codes:
        if parts and code == parts[-1][1] + 1:
            parts[-1][1] = code
        else:
            parts.append([code, code])
    return "".join(f"{re.escape(chr(first))}-{re.escape(chr(last))}" for first, last in parts)


# Written without blanks between words, or (Hangul) with endings that grow onto them: Thai, Lao,
# Burmese, Hangul's letters, Khmer, kana, Han, Hangul.
_UNPARTED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3040-\u30ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U000323af]+"
)
# Languages that are written so; of Korean what stands between blanks is rarely found again.
_UNPARTED_LANGUAGES = frozenset("zh yue wuu gan hak cdo lzh ja ko th lo km my".split())
# Accents of European letters, points of Hebrew and Arabic, what stretches Arabic words, and
# joiners: who searches leaves them out.
_LEFT_OUT = re.compile(
    "[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640"
    "\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u200c\u200d]"
)
# Letters of Arabic that are written one for the other.
_ARABIC = str.maketrans({"ى": "ي", "ی": "ي", "ک": "ك", "ة": "ه"})


def terms(text: str) -> list[str]:
    """Return the terms of a text in its order, in lower case, without signs and accents.

    A run of a script that parts no words gives its pairs of neighbouring characters, or the
    character that stands alone.
    """
    found: list[str] = []
    for word in words(_LEFT_OUT.sub("", unicodedata.normalize("NFKD", text)).translate(_ARABIC)):
        if not word[0].isalnum():
            continue
        if word.isascii():
            found.append(word)
            continue
        composed = unicodedata.normalize("NFC", word)
        at = 0
        for match in _UNPARTED.finditer(composed):
            if at < match.start():
                found.append(composed[at : match.start()])
            run = match.group()
            found += [run[place : place + 2] for place in range(len(run) - 1)] or [run]
            at = match.end()
        if at < len(composed):
            found.append(composed[at:])
    return found


def has_unparted(text: str) -> bool:
    """Return whether some of a text is of a script that writes no blanks between words."""
    return _UNPARTED.search(text) is not None


def parts_no_words(language: str) -> bool:
    """Return whether a language, by its code, writes no blanks where words are to be found."""
    return language.partition("-")[0] in _UNPARTED_LANGUAGES


def parted(text: str) -> str:
    """Return a text with blanks around each character of a script that writes none."""
    return _UNPARTED.sub(lambda run: f" {' '.join(run.group())} ", text)


# How many neighbouring terms are a shingle: a changed word changes three shingles.
SHINGLE = 3
BANDS, ROWS = 28, 3
N_HASHES = BANDS * ROWS
MIX = 0x9E3779B97F4A7C15
# Of the shingles of two texts: two of their own on one subject have a tenth in common at most.
NEARLY_THE_SAME = 0.5
TEXTS_AT_ONCE = 100
# A text without any shingle.
EMPTY = (1 << 32) - 1


class Signatures:
    """The signatures of texts, added some at a time: uint32[n_texts, N_HASHES] in the end."""

    def __init__(self) -> None:
        random = numpy.random.Generator(numpy.random.PCG64(1))
        self._factors = random.integers(1, 1 << 63, N_HASHES, dtype="<u8") * 2 + 1
        self._parts: list[Any] = []

    def add(self, texts: Sequence[Any]) -> None:
        """Add texts, each the numbers of its terms (uint64) in order."""
        hashed = [_runs(text, SHINGLE) for text in texts]
        filled = [at for at, each in enumerate(hashed) if len(each)]
        part = numpy.full((len(texts), N_HASHES), EMPTY, "<u4")
        if filled:
            flat = numpy.concatenate([hashed[at] for at in filled])
            starts = numpy.cumsum([0, *(len(hashed[at]) for at in filled[:-1])])
            for place, factor in enumerate(self._factors):
                mixed = (flat * factor >> 32).astype("<u4")
                part[filled, place] = numpy.minimum.reduceat(mixed, starts)
        self._parts.append(part)

    def groups(self, least_share: float) -> list[int]:
        """Return of each text the least number of those that are nearly the same as it.

        least_share: of their shingles in common, by signatures. What is nearly the same as a text
        of a group is of the group.
        """
        if not self._parts:
            return []
        signatures = numpy.concatenate(self._parts)
        united = Groups(len(signatures))
        filled = numpy.flatnonzero(signatures[:, 0] != EMPTY)
        for band in range(BANDS):
            rows = signatures[filled, band * ROWS : (band + 1) * ROWS].astype("<u8")
            keys = rows[:, 0]
            for place in range(1, ROWS):
                keys = (keys ^ keys >> 31) * numpy.uint64(MIX) + rows[:, place]
            order = numpy.argsort(keys, kind="stable")
            ordered = keys[order]
            same = numpy.flatnonzero(ordered[1:] == ordered[:-1]) + 1
            first = numpy.searchsorted(ordered, ordered[same])
            for of_others in (same - 1, first):
                ones, others = filled[order[same]], filled[order[of_others]]
                agree = (signatures[ones] == signatures[others]).mean(axis=1) >= least_share
                for one, other in zip(ones[agree].tolist(), others[agree].tolist(), strict=True):
                    united.unite(one, other)
        return [united.of(text) for text in range(len(signatures))]


def alike(texts: Iterable[str], least_share: float = NEARLY_THE_SAME) -> list[int]:
    """Return of each text the least number of those that are nearly the same as it.

    least_share: of their shingles in common; see `Signatures.groups`. Reads the texts once.
    """
    signatures, left = Signatures(), iter(texts)
    while some := list(islice(left, TEXTS_AT_ONCE)):
        signatures.add([_numbers(text) for text in some])
    return signatures.groups(least_share)


def runs_of(text: str, length: int) -> Any:
    """Return a number for each run of `length` terms of a text, uint64; a shorter text is one."""
    return _runs(_numbers(text), length)


class Groups:
    """Things by number, each in one group, which is called by its least number."""

    def __init__(self, n: int) -> None:
        self._parents = list(range(n))
        self._sizes = [1] * n

    def of(self, one: int) -> int:
        """Return the group of a thing."""
        parents = self._parents
        while parents[one] != one:
            parents[one] = parents[parents[one]]
            one = parents[one]
        return one

    def size(self, one: int) -> int:
        """Return how many are in the group of a thing."""
        return self._sizes[self.of(one)]

    def unite(self, one: int, other: int) -> None:
        """Put two groups together."""
        low, high = sorted((self.of(one), self.of(other)))
        if low != high:
            self._parents[high] = low
            self._sizes[low] += self._sizes[high]


def _numbers(text: str) -> Any:
    return numpy.array([crc32(term.encode()) for term in terms(text)], "<u8")


def _runs(terms: Any, length: int) -> Any:
    """Return a hash of each run of terms; a shorter text is one run."""
    if len(terms) == 0:
        return terms
    length = min(length, len(terms))
    hashed = numpy.zeros(len(terms) - length + 1, "<u8")
    for place in range(length):
        hashed = (hashed ^ hashed >> 29) * numpy.uint64(MIX) + terms[
            place : len(terms) - length + 1 + place
        ]
    return (hashed ^ hashed >> 32) * numpy.uint64(MIX)
