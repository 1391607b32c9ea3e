"""Titles as MediaWiki normalises them, and what the prefix of a link means."""

import html
import re
from enum import Enum
from urllib.parse import unquote

from collector.ingest import names
from collector.ingest.site import Site

# MediaWiki's limit, in bytes of UTF-8.
MAX_TITLE_BYTES = 255
# Enough for the links of many pages; emptied when full, so that memory stays flat.
CACHE_SIZE = 200_000

_BLANKS = re.compile(r"[_\s\u180e]+")
_INVISIBLE = re.compile("[\u200e\u200f\u202a-\u202e]")
_ILLEGAL = re.compile("[<>\\[\\]{}|\x00-\x1f\x7f\ufffd]")
# Georgian capitals exist in Unicode, but no title begins with one.
_GEORGIAN = re.compile("[\u10d0-\u10ff]")


class Prefix(Enum):
    """What the part of a link's target before its first colon can mean."""

    FILE = "file"
    CATEGORY = "category"
    LANGUAGE = "language"
    ELSEWHERE = "elsewhere"


class Titles:
    """Reads link targets of one wiki; remembers what it has read."""

    def __init__(self, site: Site) -> None:
        self._upper = site.first_letter_upper
        self.prefixes: dict[str, Prefix] = {
            **dict.fromkeys(names.OTHER_NAMESPACES | names.INTERWIKI, Prefix.ELSEWHERE),
            **dict.fromkeys(names.LANGUAGES, Prefix.LANGUAGE),
            **{name: Prefix.ELSEWHERE for name, key in site.namespaces.items() if key},
            **dict.fromkeys(names.FILES, Prefix.FILE),
            **dict.fromkeys(names.CATEGORIES, Prefix.CATEGORY),
            **{name: Prefix.FILE for name, key in site.namespaces.items() if key == 6},
            **{name: Prefix.CATEGORY for name, key in site.namespaces.items() if key == 14},
        }
        self._articles: dict[str, str | None] = {}

    def prefix(self, target: str) -> Prefix | None:
        """Return what stands before the first colon of `target` means; None for a plain title."""
        name, colon, _ = target.partition(":")
        if not colon:
            return None
        return self.prefixes.get(_BLANKS.sub(" ", _INVISIBLE.sub("", name)).strip().lower())

    def article(self, target: str) -> str | None:
        """Return the normalised title of the article that `[[target]]` links to.

        None if it leads into another namespace or to another wiki, to a section of the same page,
        or can be no title at all.
        """
        try:
            return self._articles[target]
        except KeyError:
            if len(self._articles) >= CACHE_SIZE:
                self._articles.clear()
            title = self._articles[target] = self._article(target)
            return title

    def _article(self, target: str) -> str | None:
        if "%" in target:
            target = unquote(target)
        target = html.unescape(target).strip().removeprefix(":").partition("#")[0]
        if ":" in target and self.prefix(target):
            return None
        title = self.normalise(target)
        if not title or _ILLEGAL.search(title) or len(title.encode()) > MAX_TITLE_BYTES:
            return None
        return title

    def normalise(self, title: str) -> str:
        """Return `title` as the wiki stores it: blanks single, first letter upper."""
        title = _BLANKS.sub(" ", _INVISIBLE.sub("", title)).strip()
        if self._upper and title:
            first = title[0].upper()
            if len(first) == 1 and not _GEORGIAN.match(title):
                return first + title[1:]
        return title

    def category(self, target: str) -> str:
        """Return the normalised title of `Category:…`, without namespace and sort key."""
        return self.normalise(html.unescape(target).partition(":")[2].partition("#")[0])
