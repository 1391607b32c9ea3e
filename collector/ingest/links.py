"""Reads a page's links to articles, with their offsets into the text."""

import re
from itertools import accumulate

from collector.ingest.titles import Titles
from collector.ingest.whitespace_repair import drop_stray

Link = tuple[int, int, str]
"""start, end: code points into the text; the normalised title of the target."""

_INSIDE = r"[^\[\]]*+(?:\[[^\[\]]*+\][^\[\]]*+)*+"
_LINK = rf"\[\[([^\[\]|\n]+)(?:\|({_INSIDE}))?\]\]"
_WHOLE = re.compile(rf"\[\[([^\[\]|\n]+(?:\|{_INSIDE})?)\]\]")
_STRAY = re.compile(r"\[\[|\]\]")
# Two characters are found by a pattern in half the time that `in` takes where there are wide ones.
_OPENING, _CLOSING = re.compile(r"\[\["), re.compile(r"\]\]")

# MediaWiki joins letters that follow a link to its label; which letters depends on the language.
_TRAILS = {
    "en": "a-z",
    "simple": "a-z",
    "ar": "a-zء-ي",
    "fa": "ء-یآ-ی\u200c",
    "he": "a-zא-ת",
    "yi": "a-zא-ת",
    "el": "a-zα-ωάέήίόύώϊϋΐΰ",
    "hi": "a-zऀ-ॣ०-꣠",
    "ka": "a-zა-ჰ",
    "hy": "a-zա-և",
    "ml": "a-zം-ൿ",
    "zh": "",
    "ja": "",
    "ko": "",
}
_CYRILLIC = re.compile("be|bg|ba|ce|cv|kk|ky|mk|mn|mrj|os|ru|sah|sr|tg|tt|uk")


def trail_of(language: str) -> str:
    """Return a pattern's group of the letters that, right after a link, prolong its surface."""
    code = language.lower().partition("-")[0]
    letters = _TRAILS.get(code, "a-zß-öø-ÿā-ɏ")
    if _CYRILLIC.fullmatch(code):
        letters = "a-zа-яёѐ-ӿ"
    return f"([{letters}]*)" if letters else "()"


class LinkReader:
    """Reads the links of one wiki's pages."""

    def __init__(self, titles: Titles, language: str) -> None:
        self._titles = titles
        self._split = re.compile(_LINK + trail_of(language)).split

    def read(self, text: str) -> tuple[str, list[Link]]:
        """Return `text` as it is read, and its links to articles in order.

        Links that lead elsewhere stay as text. No surface is empty, none begins or ends with a
        blank. Brackets that belong to no link go.
        """
        plain, links = self._read(text)
        if _OPENING.search(plain) or _CLOSING.search(plain):
            plain, links = self._read(balanced(text))
        return plain, links

    def _read(self, text: str) -> tuple[str, list[Link]]:
        # One call cuts the page at all its links; what follows works on whole lists at a time.
        pieces = self._split(text)
        if len(pieces) == 1:
            return text, []
        targets, labels, trails = pieces[1::4], pieces[2::4], pieces[3::4]
        known = self._titles.known
        titles = [known[target] for target in targets]
        surfaces = [
            (label or target) + trail
            for target, label, trail in zip(targets, labels, trails, strict=True)
        ]
        flat = pieces[::2]
        flat[1::2] = bare = [surface.strip() for surface in surfaces]
        if "" in titles or bare != surfaces:
            self._mend(flat, targets, surfaces)
        places = list(accumulate(map(len, flat)))
        links = zip(places[::2], places[1::2], titles, strict=False)
        return "".join(flat), [link for link in links if link[2] and link[0] < link[1]]

    def _mend(self, flat: list[str], targets: list[str], surfaces: list[str]) -> None:
        """Show no colon before a target, and keep the blanks at a surface's ends outside of it."""
        for n, surface in enumerate(surfaces):
            bare = flat[2 * n + 1]
            if surface.startswith(":") and surface.startswith(targets[n]):
                bare = bare.removeprefix(":")
            if not bare:
                bare = targets[n].strip(" :")
            flat[2 * n + 1] = bare
            if surface[:1].isspace() and not flat[2 * n].endswith((" ", "\n")):
                flat[2 * n] += " "
            if surface[-1:].isspace() and not flat[2 * n + 2].startswith((" ", "\n")):
                flat[2 * n + 2] = " " + flat[2 * n + 2]


def balanced(text: str) -> str:
    """Return `text` without brackets that belong to no whole link."""
    text = _WHOLE.sub("\ufdee\\1\ufdef", text)
    text = drop_stray(text, _STRAY)
    return text.replace("\ufdee", "[[").replace("\ufdef", "]]")
