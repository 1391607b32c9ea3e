"""Titles as MediaWiki normalises them, and what the prefix of a link means."""

import html
import re
from collections.abc import Callable
from enum import Enum
from typing import Any
from urllib.parse import unquote

from collector.ingest import wiki_names
from collector.ingest.markup_escaping import show
from collector.ingest.wiki_site import Site

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
            **dict.fromkeys(wiki_names.OTHER_NAMESPACES | wiki_names.INTERWIKI, Prefix.ELSEWHERE),
            **dict.fromkeys(wiki_names.LANGUAGES, Prefix.LANGUAGE),
            **{name: Prefix.ELSEWHERE for name, key in site.namespaces.items() if key},
            **dict.fromkeys(wiki_names.FILES, Prefix.FILE),
            **dict.fromkeys(wiki_names.CATEGORIES, Prefix.CATEGORY),
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
