"""Finds a book's chapters by their headings, as printed books and plain texts set them.

A heading is a short block of lines between blank lines. It is numbered ("CHAPTER IV", "Act I",
"SECOND PART", "_VII_", "3. The Feast") and its number follows on the one before it; or it is a
line of the table of contents that stands in the book again; or, where there is neither, a line of
capitals after two blank lines. The table of contents itself makes no chapters: what follows a
heading is longer than a line.
"""

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from statistics import median
from string import digits, whitespace
from typing import NamedTuple

# Shorter ones, in words, are lines of a table of contents, footnotes, or lists in the text.
LEAST_WORDS = 40
# Half of a style's chapters are longer, or it is no style of chapters.
LEAST_MEDIAN = 250
MOST_LINES, MOST_CHARACTERS, MOST_WORDS = 3, 120, 14
# Fewer headings without a number are no way to part a book.
LEAST_UNNUMBERED = 3

_BLOCK = re.compile(r"[^\s](?:.|\n(?!\s*\n))*")
_DECORATION = " \t\n_*=~.:-[]"
_UNITS = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
_UNITS += "sixteen seventeen eighteen nineteen"
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth "
_ORDINALS += "thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth"
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_BELOW_TWENTY = [
    (word, number) for words in (_UNITS, _ORDINALS) for number, word in enumerate(words.split(), 1)
]
_WORDS = dict(_BELOW_TWENTY)
for _tens, _ten in enumerate(_TENS.split(), 2):
    _WORDS |= {_ten: 10 * _tens, f"{_ten[:-1]}ieth": 10 * _tens}
    _WORDS |= {f"{_ten} {word}": 10 * _tens + n for word, n in _BELOW_TWENTY if n < 10}
_IN_WORDS = "|".join(sorted(_WORDS, key=len, reverse=True)).replace(" ", r"[-\s]\s*")
_NUMBER = rf"(?P<number>\d{{1,3}}|[IVXLC]+|{_IN_WORDS})"
_PARTS = "PART|BOOK|VOLUME"
_CHAPTERS = "CHAPTER|CHAP|ACT|SCENE|STAVE|LETTER|CANTO"
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}


class Chapter(NamedTuple):
    """`start`, `end`: code points into the book's text, from the heading to the next one."""

    heading: str
    start: int
    end: int


class _Block(NamedTuple):
    start: int
    end: int
    text: str
    # Blank lines before it.
    gap: int


class _Heading(NamedTuple):
    block: _Block
    style: str
    number: int


def find_chapters(text: str) -> list[Chapter]:
    """Return the chapters in order; none where the text shows no way that it is parted."""
    blocks = _blocks(text)
    parts = _runs(text, _numbered(blocks, _styles(_PARTS)))
    ways: tuple[Callable[[], list[_Heading]], ...] = (
        lambda: _runs(text, _numbered(blocks, _styles(_CHAPTERS))),
        lambda: _runs(text, _numbered(blocks, _bare())),
        lambda: _of_contents(text, blocks),
        lambda: _capitals(text, blocks),
    )
    found: list[_Heading] = []
    for way in ways:
        found = way()
        if found:
            break
    return _chapters(text, blocks, sorted(parts + found, key=lambda one: one.block.start))


def _blocks(text: str) -> list[_Block]:
    found: list[_Block] = []
    end = 0
    for match in _BLOCK.finditer(text):
        gap = text.count("\n", end, match.start()) - 1 if found else 2
        found.append(_Block(match.start(), match.end(), match[0], gap))
        end = match.end()
    return found


def _is_short(block: _Block) -> bool:
    return (
        len(block.text) <= MOST_CHARACTERS
        and block.text.count("\n") < MOST_LINES
        and len(block.text.split()) <= MOST_WORDS
    )


def _styles(names: str) -> list[tuple[str, re.Pattern[str]]]:
    """Return how a heading with one of these names may be written."""
    after = re.compile(rf"[\W_]*(?P<name>{names})\b[ \t.]*(?:the\s+)?{_NUMBER}(?=[\W_]|$)", re.I)
    before = re.compile(rf"[\W_]*(?:THE\s+)?{_NUMBER}\s+(?P<name>{names})[\W_]*$", re.I)
    return [("after", after), ("before", before)]


def _bare() -> list[tuple[str, re.Pattern[str]]]:
    """Return how a heading may be written that has a number, with or without a title."""
    alone = re.compile(r"[\W_]*(?P<number>[IVXLC]+|\d{1,3})[\W_]*$")
    titled = re.compile(r"(?P<number>[IVXLC]+)(?:\.\s+|\s*[-—:]\s*|\s{2,})(?=\S)")
    return [("alone", alone), ("titled", titled)]


def _numbered(
    blocks: Sequence[_Block], styles: Sequence[tuple[str, re.Pattern[str]]]
) -> list[_Heading]:
    found = []
    for block in filter(_is_short, blocks):
        for style, pattern in styles:
            match = pattern.match(block.text)
            if match:
                name = match.groupdict().get("name") or ""
                found.append(_Heading(block, f"{style} {name.lower()}", _value(match["number"])))
                break
    return found


def _value(number: str) -> int:
    """Return the number that digits, a word or Roman figures say; 0 for what is none."""
    lower = " ".join(re.split(r"[-\s]+", number.lower()))
    if lower.isdecimal():
        return int(lower)
    if lower in _WORDS:
        return _WORDS[lower]
    # Letters of other scripts match those of figures and words where case is ignored.
    if not _ROMAN.keys() >= set(lower):
        return 0
    values = [_ROMAN[letter] for letter in lower]
    return sum(-one if one < after else one for one, after in pairwise([*values, 0]))


def _runs(text: str, headings: Sequence[_Heading]) -> list[_Heading]:
    """Return the headings of each style whose numbers follow on one another from one on.

    Numbers may begin again, as in the second part of a book. One may be missing; more where the
    heading has a name and the next one goes on from it: numbers by themselves are of pages as well.
    """
    found: list[_Heading] = []
    for style in dict.fromkeys(heading.style for heading in headings):
        last, run = 0, list[_Heading]()
        own = _long(text, [heading for heading in headings if heading.style == style])
        for heading, following in zip(own, [*own, None][1:], strict=True):
            number = heading.number
            follows = number in (1, last + 1) or (run and number == last + 2)
            goes_on = following is not None and following.number == number + 1
            if follows or (run and number > last and goes_on and not style.endswith(" ")):
                run.append(heading)
                last = number
        if len(run) > 1 and _is_way(text, run):
            found += run
    return found


def _long(text: str, headings: Sequence[_Heading]) -> list[_Heading]:
    """Return the headings that text follows, not the next one."""
    lengths = _lengths(text, headings)
    return [one for one, words in zip(headings, lengths, strict=True) if words >= LEAST_WORDS]


def _is_way(text: str, headings: Sequence[_Heading]) -> bool:
    """Return whether what these part the book into is as long as chapters are."""
    return median(_lengths(text, headings)) >= LEAST_MEDIAN


def _lengths(text: str, headings: Sequence[_Heading]) -> list[int]:
    """Return how many words stand between each heading and the next, or the end."""
    ends = [*(heading.block.start for heading in headings), len(text)][1:]
    return [
        len(text[heading.block.end : end].split())
        for heading, end in zip(headings, ends, strict=True)
    ]


def _of_contents(text: str, blocks: Sequence[_Block]) -> list[_Heading]:
    """Return the blocks that are lines of the table of contents again, in its order."""
    places = [
        index for index, block in enumerate(blocks) if _plain(block.text).startswith("contents")
    ]
    if not places:
        return []
    first = places[0]
    listed = blocks[first].text.partition("\n")[2]
    listed = listed or "".join(block.text for block in blocks[first + 1 : first + 2])
    titles = [_plain(line) for line in listed.splitlines() if _plain(line)]
    found, position = [], 0
    for block in filter(_is_short, blocks[first + 1 :]):
        if block.text != listed and _plain(block.text) in titles[position:]:
            position = titles.index(_plain(block.text), position) + 1
            found.append(_Heading(block, "contents", position))
    enough = len(found) >= LEAST_UNNUMBERED and _is_way(text, found)
    return found if enough else []


def _plain(line: str) -> str:
    """Return a line of the contents without its page number and the dots before it."""
    return line.strip(_DECORATION).rstrip(digits).rstrip(f".{whitespace}").casefold()


def _capitals(text: str, blocks: Sequence[_Block]) -> list[_Heading]:
    """Return the lines of capitals with two blank lines before them, the title page's left out."""
    lines = [
        _Heading(block, "capitals", 0)
        for block in blocks
        if block.gap >= 2 and _is_short(block) and _in_capitals(block.text)
    ]
    found = _long(text, lines)
    enough = len(found) >= LEAST_UNNUMBERED and _is_way(text, found)
    return found if enough else []


def _in_capitals(line: str) -> bool:
    bare = line.strip(_DECORATION)
    return bare.isupper() and bool(re.search(r"[^\W\d_]{2}", bare)) and "\n" not in bare


def _chapters(text: str, blocks: Sequence[_Block], headings: Sequence[_Heading]) -> list[Chapter]:
    """Return what the headings part the book into; a part and its first chapter are one."""
    if not headings:
        return []
    places = {block.start: index for index, block in enumerate(blocks)}
    starts = []
    for heading, after in zip(headings, [*headings[1:], None], strict=True):
        title = _one_line(heading.block.text)
        following = blocks[places[heading.block.start] + 1 :][:1]
        end = after.block.start if after else len(text)
        if following and following[0].start < end and _is_title(heading, following[0]):
            title = f"{title} {_one_line(following[0].text)}"
        words = len(text[heading.block.end : end].split())
        starts.append((title, heading.block.start, words >= LEAST_WORDS))
    joined: list[tuple[str, int]] = []
    before: list[tuple[str, int]] = []
    for title, start, is_long in starts:
        before.append((title, start))
        if is_long:
            joined.append((" ".join(each for each, _ in before), before[0][1]))
            before = []
    ends = [*(start for _, start in joined), len(text)][1:]
    return [Chapter(title, start, end) for (title, start), end in zip(joined, ends, strict=True)]


def _is_title(heading: _Heading, block: _Block) -> bool:
    """Return whether the block after a bare number is the chapter's title and not its text."""
    number = re.sub(
        rf"[\W_]*(?:(?:{_PARTS}|{_CHAPTERS})\W*)?{_NUMBER}[\W_]*",
        "",
        heading.block.text,
        flags=re.I,
    )
    line = block.text.strip(_DECORATION)
    if heading.style in ("contents", "capitals") or number.strip() or not _is_short(block):
        return False
    return line.isupper() or (
        "\n" not in line and line[:1].isupper() and block.text.rstrip()[-1:].isalnum()
    )


def _one_line(text: str) -> str:
    return " ".join(text.split()).strip("_* ")
