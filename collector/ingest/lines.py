"""Cuts a page's text into sections, paragraphs and list items, and reads the links in them."""

import re
from bisect import bisect_right
from itertools import accumulate

from collector.ingest.elements import drop_stray
from collector.ingest.titles import Titles, hides, show

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


PARAGRAPH = "paragraph"
LIST_ITEM = "list_item"

Section = tuple[int, str]
"""level: the number of `=` of the heading, 0 for the lead; the heading, blank for the lead."""
Paragraph = tuple[int, str, str, list[Link]]
"""index of its section; PARAGRAPH or LIST_ITEM; text; links, offsets into that text."""

_HEADING = re.compile(r"(={1,6})(.+?)\1\s*$")
_MARKS = " =*#:;|!-"
_SENTENCE_ENDS = ".!?…:。！？।॥؟۔։።"
_CLOSERS = " \"'”’»›)]」』"
# What is shorter needs a letter or a digit to be text, not the full stop after something dropped.
MIN_WORD = 4
_BLANKS = re.compile("  +")


def read_lines(text: str, links: list[Link]) -> tuple[list[Section], list[Paragraph]]:
    """Return the sections and paragraphs of `text`, whose links are in order.

    A line is a paragraph, and goes on in the next if it ends within a sentence, as in pages whose
    lines were broken by hand. (The wiki joins all lines that no blank line parts; their writers
    mostly meant two paragraphs.) List items and preformatted lines are list items, each of its
    own. A heading without text under it goes. Blanks in a row are one.
    """
    cutter = _Cutter(text, links)
    cells = "|" in text and "\n|" in text
    start = 0
    waiting: list[str] = []
    for line in text.split("\n"):
        if line and (line[0] not in _MARKS or (line[0] in "-!" and _is_prose(line, cells))):
            if waiting and (waiting[-1].rstrip(_CLOSERS)[-1:] in _SENTENCE_ENDS):
                cutter.add_prose(waiting, start)
                waiting = []
            waiting.append(line)
        else:
            if waiting:
                cutter.add_prose(waiting, start)
                waiting = []
            if line:
                cutter.add_marked(line, start)
        start += len(line) + 1
    if waiting:
        cutter.add_prose(waiting, start)
    return cutter.sections, cutter.paragraphs


def _is_prose(line: str, cells: bool) -> bool:
    """Return whether a line that begins with - or ! is prose; `cells`: the page has loose ones."""
    if line[0] == "-":
        return not line.startswith("----")
    # `!Kung` is a word, `! 1994` and `!a!!b` are cells of a table that a template has begun.
    cell = line[:2] in ("! ", "!") or "!!" in line or "|" in line
    return line[0] == "!" and not cell and not cells


class _Cutter:
    """Collects sections and paragraphs, and hands out the links from left to right."""

    def __init__(self, text: str, links: list[Link]) -> None:
        self._hides = hides(text)
        self._links = links
        # A last one that no paragraph reaches spares asking for the end each time.
        self._starts = [link[0] for link in links]
        self._starts.append(len(text) + 1)
        self._next = 0
        self._headings: list[Section] = []
        self.sections: list[Section] = [(0, "")]
        self.paragraphs: list[Paragraph] = []

    def add_prose(self, lines: list[str], end: int) -> None:
        """Add lines in a row, the last of which ends right before `end`, as one paragraph."""
        # A newline and the blank in its place are as long as each other.
        text = lines[0] if len(lines) == 1 else " ".join(lines)
        self._add(PARAGRAPH, text, end - 1 - len(text))

    def add_marked(self, line: str, start: int) -> None:
        """Add a line that begins with a mark: a heading, a list item, or nothing that is read."""
        if line[0] == "=" and (heading := _HEADING.match(line)):
            self._begin_section(len(heading[1]), " ".join(heading[2].split()))
        elif line[0] in "*#:; ":
            text = line.lstrip("*#:; ")
            self._add(LIST_ITEM, text, start + len(line) - len(text))
        elif line[0] in "=-":
            text = line.lstrip("=-")
            self._add(PARAGRAPH, text, start + len(line) - len(text))

    def _add(self, kind: str, text: str, start: int) -> None:
        """Add `text`, which begins at `start` of the page, as one paragraph, unless it is blank."""
        bare = text.strip()
        if bare is not text:
            start += len(text) - len(text.lstrip())
        if len(bare) < MIN_WORD and not any(map(str.isalnum, bare)):
            return
        end = start + len(bare)
        starts = self._starts
        at = until = self._next
        while starts[until] < end:
            until += 1
        links: list[Link] = []
        if until > at:
            self._next = until
            links = [(a - start, b - start, title) for a, b, title in self._links[at:until]]
            if links[0][0] < 0 or links[-1][1] > len(bare):
                links = [link for link in links if link[0] >= 0 and link[1] <= len(bare)]
        if self._hides:
            text = bare
            text = show(text)
            bare = text.strip()
            shift = len(text) - len(text.lstrip())
            bare, links = (
                bare,
                [(start - shift, end - shift, title) for start, end, title in links],
            )
        if "  " in bare:
            bare, links = _with_single_blanks(bare, links)
        if not bare:
            return
        if self._headings:
            self.sections += self._headings
            self._headings = []
        self.paragraphs.append((len(self.sections) - 1, kind, bare, links))

    def _begin_section(self, level: int, heading: str) -> None:
        # Kept back until there is text under it; of those without, only its own parents count.
        while self._headings and self._headings[-1][0] >= level:
            self._headings.pop()
        if heading:
            self._headings.append((level, show(heading) if self._hides else heading))


def _with_single_blanks(text: str, links: list[Link]) -> tuple[str, list[Link]]:
    """Return the text with one blank where there are several, and its links moved along."""
    places = [blanks.span() for blanks in _BLANKS.finditer(text)]
    ends = [end for _, end in places]
    # gone[i]: blanks dropped before the end of the i-th run.
    gone = [0, *accumulate(end - start - 1 for start, end in places)]

    def moved(offset: int) -> int:
        return offset - gone[bisect_right(ends, offset)]

    shifted = [(moved(start), moved(end), title) for start, end, title in links]
    return _BLANKS.sub(" ", text), shifted
