"""The n-grams that retrieval counts, as DrQA's simple tokenizer and hashing define them."""

import re
import sys
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

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
    return list(_grams(words(text)))


def bucket(gram: str) -> int:
    """Return the number from 0 to 2^24 - 1 under which an n-gram is weighed."""
    from murmurhash.mrmr import hash_unicode

    return int(hash_unicode(gram)) % N_BUCKETS


def _grams(found: list[str]) -> Iterator[str]:
    kept = [counts(word) for word in found]
    for at, word in enumerate(found):
        if kept[at]:
            yield word
            if at + 1 < len(found) and kept[at + 1]:
                yield word + JOINT + found[at + 1]


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
