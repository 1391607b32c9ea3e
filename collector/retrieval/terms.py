"""The terms by which passages are searched: words, and pairs of characters where none are parted.

They are of the script, not of a language: an Arabic name in an English text is found as well.
"""

import re
import unicodedata
from collections.abc import Iterator

from collector.retrieval.ngrams import words

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
    return list(_terms(text))


def has_unparted(text: str) -> bool:
    """Return whether some of a text is of a script that writes no blanks between words."""
    return _UNPARTED.search(text) is not None


def parts_no_words(language: str) -> bool:
    """Return whether a language, by its code, writes no blanks where words are to be found."""
    return language.partition("-")[0] in _UNPARTED_LANGUAGES


def parted(text: str) -> str:
    """Return a text with blanks around each character of a script that writes none."""
    return _UNPARTED.sub(lambda run: f" {' '.join(run.group())} ", text)


def _terms(text: str) -> Iterator[str]:
    for word in words(_LEFT_OUT.sub("", unicodedata.normalize("NFKD", text)).translate(_ARABIC)):
        if not word[0].isalnum():
            continue
        if word.isascii():
            yield word
            continue
        composed = unicodedata.normalize("NFC", word)
        at = 0
        for run in _UNPARTED.finditer(composed):
            if at < run.start():
                yield composed[at : run.start()]
            yield from _pairs(run.group())
            at = run.end()
        if at < len(composed):
            yield composed[at:]


def _pairs(run: str) -> Iterator[str]:
    if len(run) == 1:
        yield run
    for at in range(len(run) - 1):
        yield run[at : at + 2]
