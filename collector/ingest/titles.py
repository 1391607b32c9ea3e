"""Titles as MediaWiki normalises them, names of namespaces, and what a link's prefix means."""

import html
import re
import tomllib
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from collector.ingest.dump import Site

_TABLE = tomllib.loads(Path(__file__).with_name("wiki_names.toml").read_text(encoding="utf-8"))


def _names(key: str) -> frozenset[str]:
    lines = _TABLE[key].strip().splitlines()
    return frozenset(name.strip() for line in lines for name in line.split("|"))


FILES = _names("files")
CATEGORIES = _names("categories")
OTHER_NAMESPACES = _names("other_namespaces")
INTERWIKI = _names("interwiki")
LANGUAGES = frozenset(_TABLE["languages"].split())
REDIRECTS = _names("redirects")
_DISAMBIGUATION = _names("disambiguation")
_INFOBOXES = tuple(sorted(_names("infoboxes")))
_LISTS = tuple(sorted(f"{name} " for name in _names("lists")))


def is_list_title(title: str, language: str) -> bool:
    """Return whether an article of that title is a list, such as `List of rivers of Wales`."""
    beginnings = ("list of ", "lists of ") if language in ("en", "simple") else _LISTS
    return title.lower().startswith(beginnings)


def is_infobox(template: str) -> bool:
    """Return whether a template of that name, in lower case, says what kind a thing is of."""
    return template.startswith(_INFOBOXES)


def is_disambiguation(template: str) -> bool:
    """Return whether a template of that name, in lower case, marks a list of meanings."""
    return template in _DISAMBIGUATION


# Unicode's noncharacters never occur in text, and MediaWiki refuses them.
_FIRST = 0xFDD0
_HIDDEN = {character: chr(_FIRST + 1 + n) for n, character in enumerate("[]{}|=*#:;!'_<>&- ")}
_HIDE = str.maketrans({**_HIDDEN, "\n": _HIDDEN[" "]})
_SHOW = str.maketrans({hidden: character for character, hidden in _HIDDEN.items()})


def hide(text: str) -> str:
    """Return `text` with every character that could be markup replaced by a stand-in."""
    return text.translate(_HIDE)


def hide_structure(text: str) -> str:
    """Return `text`, a character that an entity stands for, hidden if lines or links have it."""
    return text.translate(_HIDE) if text in _STRUCTURE else text


def keep_apart(text: str) -> str:
    """Return `text` with a blank between hidden brackets in a row, which are no markup to anyone.

    `<nowiki>[[</nowiki>` is read as `[ [`: a `[[` in a paragraph is an error.
    """
    for first, second in _PAIRS:
        while first + second in text:
            text = text.replace(first + second, f"{first} {second}")
    return text


def show(text: str) -> str:
    """Return `text` with stand-ins turned back; as long as before."""
    return text.translate(_SHOW)


def hides(text: str) -> bool:
    """Return whether there is a stand-in in `text`."""
    return not text.isascii() and any(hidden in text for hidden in _SHOWN)


_STRUCTURE = frozenset("[]{}|=*#:;!- \n")
# Brackets in a row of which at least one is hidden.
_PAIRS = [
    (first, second)
    for pair in ("[[", "]]", "{{", "}}", "{|", "|}")
    for first in (pair[0], _HIDDEN[pair[0]])
    for second in (pair[1], _HIDDEN[pair[1]])
    if first + second != pair
]
_SHOWN = tuple(_HIDDEN.values())


# MediaWiki's limit, in bytes of UTF-8.
MAX_TITLE_BYTES = 255
# Enough for the links of many pages; emptied when full, so that memory stays flat.
CACHE_SIZE = 200_000

_BLANKS = re.compile(r"[_\s\u180e]+")
_INVISIBLE = re.compile("[\u200e\u200f\u202a-\u202e]")
_ILLEGAL = re.compile("[<>\\[\\]{}|\x00-\x1f\x7f\ufffd]")
# Nearly all targets: written as the wiki stores them, but perhaps for their first letter.
_PLAIN = re.compile(
    "[A-Za-z0-9][^_%&#:<>\\[\\]{}|\x00-\x1f\x7f\xa0\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f\u3000"
    "\ufdd0-\ufdef\ufffd]{0,59}(?<! )"
)
# Georgian capitals exist in Unicode, but no title begins with one.
_GEORGIAN = re.compile("[\u10d0-\u10ff]")

# Where a link leads that is shown as text only.
NOWHERE = ""


class Prefix(Enum):
    """What the part of a link's target before its first colon can mean."""

    FILE = "file"
    CATEGORY = "category"
    LANGUAGE = "language"
    ELSEWHERE = "elsewhere"


class _Known(dict[str, Any]):
    """What has been looked up; the rest is looked up when asked for."""

    def __init__(self, look_up: Callable[[str], Any]) -> None:
        super().__init__()
        self._look_up = look_up

    def __missing__(self, target: str) -> Any:
        if len(self) >= CACHE_SIZE:
            self.clear()
        found = self[target] = self._look_up(target)
        return found


class Titles:
    """Reads the link targets of one wiki.

    `known[target]` says where `[[target]]` leads: the normalised title of an article, or NOWHERE if
    into another namespace or wiki, to a section of the same page, or if it can be no title.
    `prefixes[name]` says what `[[name:…]]` is; None for a title with a colon.
    `categories[name]` is the normalised title of `[[Category:name]]`.
    """

    def __init__(self, site: Site) -> None:
        self._upper = site.first_letter_upper
        self._prefixes: dict[str, Prefix] = {
            **dict.fromkeys(OTHER_NAMESPACES | INTERWIKI, Prefix.ELSEWHERE),
            **dict.fromkeys(LANGUAGES, Prefix.LANGUAGE),
            **{name: Prefix.ELSEWHERE for name, key in site.namespaces.items() if key},
            **dict.fromkeys(FILES, Prefix.FILE),
            **dict.fromkeys(CATEGORIES, Prefix.CATEGORY),
            **{name: Prefix.FILE for name, key in site.namespaces.items() if key == 6},
            **{name: Prefix.CATEGORY for name, key in site.namespaces.items() if key == 14},
        }
        self.known = _Known(self._look_up)
        self.prefixes = _Known(self._prefix)
        self.categories = _Known(self._category)

    def _prefix(self, name: str) -> Prefix | None:
        name = _BLANKS.sub(" ", _INVISIBLE.sub("", name)).strip().lower()
        return self._prefixes.get(name)

    def _prefix_of(self, target: str) -> Prefix | None:
        name, colon, _ = target.partition(":")
        return self.prefixes[name] if colon else None

    def _look_up(self, target: str) -> str:
        if self._upper and _PLAIN.fullmatch(target) and "  " not in target:
            return target[0].upper() + target[1:]
        if "%" in target:
            target = unquote(target)
        target = html.unescape(show(target)).strip().removeprefix(":")
        title = self.normalise(target.partition("#")[0])
        if self._prefix_of(target) or _ILLEGAL.search(title):
            return NOWHERE
        return title if len(title.encode()) <= MAX_TITLE_BYTES else NOWHERE

    def normalise(self, title: str) -> str:
        """Return `title` as the wiki stores it: blanks single, first letter upper."""
        title = _BLANKS.sub(" ", _INVISIBLE.sub("", title)).strip()
        if self._upper and title:
            first = title[0].upper()
            if len(first) == 1 and not _GEORGIAN.match(title):
                return first + title[1:]
        return title

    def _category(self, title: str) -> str:
        if self._upper and _PLAIN.fullmatch(title) and "  " not in title:
            return title[0].upper() + title[1:]
        return self.normalise(html.unescape(show(title)).partition("#")[0])
