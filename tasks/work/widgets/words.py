"""The words of what people write, in any script, and whether it ends as a question does."""

import math
import re
import unicodedata

# Scripts that write no blanks between words, from Thai to Khmer, and those of China and Japan.
UNSPACED = (
    "\u0e00-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
# Hangul's words grow: what other languages say in several stands in one.
_GROWING = "\uac00-\ud7a3"
# How many of their characters make about as much as a word elsewhere.
CHARACTERS_IN_A_WORD = 2
# Of the basic plane: points of Hebrew and Arabic, vowels of Hindi, Thai and their like.
_COMBINING = "".join(
    chr(code) for code in range(0x10000) if unicodedata.category(chr(code)).startswith("M")
)
_LETTER = rf"[\w{_COMBINING}]"
_WORD = re.compile(rf"\w{_LETTER}*(?:['’-]{_LETTER}+)*")
_PIECE = re.compile(rf"[{UNSPACED}{_GROWING}][{_COMBINING}]*|[^{UNSPACED}{_GROWING}]+")
_BY_CHARACTER = re.compile(f"[{UNSPACED}{_GROWING}]")
_CLOSERS = "\"'”’»)]」』）】 \t\n"
_MARKS = ("?", "？", "؟", "\u037e", "፧", "⁇", "⁈", "⁉")
# Greek's own is often written as the semicolon that it looks like.
_GREEK = re.compile("[\u0370-\u03ff\u1f00-\u1fff].*;$")
# Armenian writes it over the word that asks.
_WITHIN = "՞"
# Japanese asks by its last word too, and from Thai to Khmer no mark is written at all.
_ASKING_ENDS = ("か", "か。")
_UNMARKED = re.compile("[\u0e00-\u109f\u1780-\u17ff][ฯๆ။។]?$")


def words_of(text: str) -> list[str]:
    """Return the words of a text; of a script that parts none, or whose words grow, characters."""
    return [piece[0] for word in _WORD.finditer(text) for piece in _PIECE.finditer(word[0])]


def n_words(text: str) -> int:
    """Return how long a text is in words: two characters of a script without them are one."""
    return math.ceil(sum(map(_length, words_of(text))))


def copied(text: str, passage: str, many: int) -> str:
    """Return the first run of the text's words, of that length, that a passage has, or ""."""
    words, read = words_of(text), f" {' '.join(words_of(passage.casefold()))} "
    for start in range(len(words)):
        length = 0.0
        for end, word in enumerate(words[start:], start + 1):
            length += _length(word)
            if length >= many:
                run = words[start:end]
                if f" {' '.join(run).casefold()} " in read:
                    return ("" if all(map(_BY_CHARACTER.match, run)) else " ").join(run)
                break
    return ""


def is_asked(text: str) -> bool:
    """Return whether a text ends as questions of its language do, with a mark where it has one."""
    told = text.rstrip(_CLOSERS)
    return (
        told.endswith((*_MARKS, *_ASKING_ENDS))
        or _WITHIN in told
        or _UNMARKED.search(told) is not None
        or _GREEK.search(told) is not None
    )


def _length(word: str) -> float:
    return 1 / CHARACTERS_IN_A_WORD if _BY_CHARACTER.match(word) else 1.0
