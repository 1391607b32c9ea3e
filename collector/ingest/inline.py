"""Resolves a page's inline markup: quotes, entities, external links, magic words."""

import html
import re
from collections.abc import Iterator
from functools import lru_cache

from collector.ingest.markup_escaping import hide_structure, hides, keep_apart
from collector.ingest.whitespace_repair import drop_stray

# Where an external link without a label stood; no character of any text.
_GONE = "\ufdd0"
_AROUND_GONE = re.compile(rf"[ ]?\({_GONE}\)|{_GONE}")
# How pages are asked whether they have many: their beginning, and more than so many there.
BEGINNING, FEW_DOUBLE_BLANKS = 5000, 3

_QUOTES = re.compile(r"'{2,}")
_BOLD = re.compile("'''")
_MARKS = re.compile("''(?:'(?:'')?)?")
_EXTERNAL = re.compile(
    r"\[(?:https?:|ftp:|mailto:|//)[^\s\[\]]*+[ \t]*+"
    r"([^\[\]\n]*+(?:\[\[[^\[\]\n]*+\]\][^\[\]\n]*+)*+)\]"
)
_MAGIC_WORD = re.compile(r"__(?!_)(\w{2,40}?)__")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_VARIANT = re.compile(r"-\{([^{}]*+)\}-")
_STRAY = re.compile(r"\{\{|\}\}|\{\||\|\}")
_VARIANTS = re.compile("zh|sr|kk|ku|iu|shi|tg|uz|gan|crh|wuu")


def has_variants(language: str) -> bool:
    """Return whether wikis in `language` write -{one;or another}- script."""
    return bool(_VARIANTS.fullmatch(language.partition("-")[0]))


def clean(text: str, *, variants: bool = False) -> str:
    """Return the page `text` with everything inline resolved but `[[links]]`.

    Characters that entities stand for are hidden (`shield`), so that none becomes markup.
    """
    # A search for one character is far cheaper than one for two.
    if "[" in text:
        text = _EXTERNAL.sub(_in_place_of_external, text)
        if _GONE in text:
            text = _AROUND_GONE.sub("", text)
    if "'" in text:
        text = drop_quotes(text)
    if "_" in text and "__" in text:
        text = _MAGIC_WORD.sub(_in_place_of_magic, text)
    if variants:
        text = _VARIANT.sub(_in_place_of_variant, text)
    if "{" in text or "}" in text:
        text = drop_stray(text, _STRAY)
    if "&" in text:
        text = _ENTITY.sub(_in_place_of_entity, text)
    if hides(text):
        text = keep_apart(text)
    text = text.replace("\xa0", " ").replace("\t", " ")
    # A few are cheaper to mend where they stand, paragraph by paragraph.
    many = text.count("  ", 0, BEGINNING) > FEW_DOUBLE_BLANKS
    return text.replace("  ", " ") if many else text


def _in_place_of_external(match: re.Match[str]) -> str:
    return match[1] or _GONE


@lru_cache(maxsize=2000)
def _character(entity: str) -> str:
    return hide_structure(html.unescape(entity))


def _in_place_of_entity(match: re.Match[str]) -> str:
    return _character(match[0])


def drop_quotes(text: str) -> str:
    """Return `text` without the apostrophes that make italics and bold.

    Where a line would have odd numbers of both, three of them are one apostrophe and italics, as
    MediaWiki has it: `l'''Iliade''` reads l'Iliade, and `''Desire'''s` Desire's.
    """
    done = 0
    pieces: list[str] = []
    for place in _apostrophes(text):
        # A stand-in would make a wide string of the page, and every search in it slower.
        pieces += (_MARKS.sub("", text[done:place]), "'")
        done = place + 1
    rest = _MARKS.sub("", text[done:] if done else text)
    return "".join(pieces) + rest if pieces else rest


def _apostrophes(text: str) -> Iterator[int]:
    """Yield where the one apostrophe is in each line with odd numbers of bold and italics."""
    end = 0
    # A pattern finds three characters in a third of the time that `find` takes among wide ones.
    while bold := _BOLD.search(text, end):
        start = text.rfind("\n", 0, bold.start()) + 1
        end = text.find("\n", bold.start())
        end = end if end >= 0 else len(text)
        runs = [len(run) for run in _QUOTES.findall(text, start, end)]
        n_bold = sum(run != 2 for run in runs)
        n_italic = sum(run not in (3, 4) for run in runs)
        if n_bold % 2 and n_italic % 2 and (place := _apostrophe(text, start, end)) >= 0:
            yield place


def _apostrophe(text: str, start: int, end: int) -> int:
    """Return where three hold an apostrophe: after a letter, else a word, else a blank; or -1."""
    places = [run.end() - 3 for run in _QUOTES.finditer(text, start, end) if len(run[0]) in (3, 4)]

    def rank(place: int) -> int:
        before = text[max(0, place - 2) : place]
        if before[-1:].isalpha() and not before[:-1].isalpha():
            return 0
        return 2 if before.endswith(" ") else 1

    return min(places, key=rank, default=-1)


def _in_place_of_magic(match: re.Match[str]) -> str:
    # Magic words are capitals, or a script without case; `__init__` is neither.
    return "" if match[1] == match[1].upper() else match[0]


def _in_place_of_variant(match: re.Match[str]) -> str:
    flags, bar, words = match[1].rpartition("|")
    if bar and flags.strip() not in ("", "R"):
        return ""
    first = words.partition(";")[0]
    return first.partition(":")[2] or first if ":" in first else words
