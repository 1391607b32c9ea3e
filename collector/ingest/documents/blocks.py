"""What every format is read into: headings, paragraphs, list items, and what was left out."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from collector.ingest.lines import LIST_ITEM, PARAGRAPH, Link, Paragraph, Section

HEADING = "heading"
MAX_HEADING, MAX_TITLE, MAX_ID = 300, 250, 255
# The level of a document's main sections, as in wikis, whose pages have the title alone on 1.
MAIN_LEVEL, LAST_LEVEL = 2, 6

# Soft hyphens, joints, marks of direction (the page sets that), what no text has.
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff\ufffe"
    "\uffff\ud800-\udfff]+"
)
Breaks = Sequence[tuple[int, int]]
"""(start, number): from `start` on the text stands on that page, counted from 1."""


@dataclass(frozen=True)
class Block:
    """A heading (`level` 1 is the highest), a paragraph or a list item: one line of clean text.

    `links` and `pages` have offsets into `text`; the target of a link is as the file has it.
    """

    kind: str
    text: str
    level: int = 0
    links: Sequence[Link] = ()
    pages: Breaks = ()


@dataclass(frozen=True)
class DocumentText:
    """A document as it was read; title and language blank where the file does not say.

    `notes`: what was not read as it should be, each one sentence. `left_out`: how many characters,
    blanks not counted, are in no block, by the rule that left them out, as `tables`.
    """

    title: str
    blocks: Sequence[Block]
    language: str = ""
    n_pages: int | None = None
    notes: Sequence[str] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class DocumentRow:
    """A document as its row gives it; `links` are [start, end, id or title] into `text`."""

    where: str
    id: str
    title: str
    text: str
    url: str
    licence: str
    links: tuple[Link, ...]


def said_left_out(what: str, number: int) -> list[str]:
    """Return the sentence on the number of a document's tables, say; no sentence for 0."""
    if not number:
        return []
    return [f"1 {what} is left out." if number == 1 else f"{number:,} {what}s are left out."]


def size(*texts: str) -> int:
    """Return how many characters texts have, without blanks and what is not seen."""
    return sum(len(word) for text in texts for word in _UNSEEN.sub("", text).split())


def clean(text: str) -> str:
    """Return `text` as it is stored: one line, blanks single, nothing that is not seen."""
    return " ".join(_UNSEEN.sub("", text).split())


def cleaned(text: str) -> tuple[str, list[int]]:
    """Return clean(text), and for each offset into `text`, its end among them, where it is now."""
    kept: list[str] = []
    places = []
    for letter in text:
        places.append(len(kept))
        if letter.isspace():
            if kept and kept[-1] != " ":
                kept.append(" ")
        elif not _UNSEEN.match(letter):
            kept.append(letter)
    whole = "".join(kept).rstrip()
    return whole, [min(place, len(whole)) for place in (*places, len(kept))]


def sections_of(
    document: DocumentText, title: str
) -> tuple[list[Section], list[Paragraph], list[Breaks], int]:
    """Return the sections, the paragraphs, where the pages of each paragraph begin, and a size.

    Levels are told anew, so that the highest heading is a main section; a heading that says the
    title again, and stands above all others, is none, nor one with neither text nor deeper headings
    under it. The size is that of such headings without text. What is too long for a heading is a
    paragraph.
    """
    blocks = [
        replace(block, kind=PARAGRAPH, level=0) if len(block.text) > MAX_HEADING else block
        for block in document.blocks
    ]
    if (
        blocks
        and blocks[0].kind == HEADING
        and blocks[0].text.casefold() == title.casefold()
        and _stands_above(blocks)
    ):
        blocks.pop(0)
    whole = size(*(block.text for block in blocks))
    blocks = [block for number, block in enumerate(blocks) if not _leads_nowhere(blocks, number)]
    n_left_out = whole - size(*(block.text for block in blocks))
    levels = sorted({block.level for block in blocks if block.kind == HEADING})
    sections: list[Section] = [(0, "")]
    paragraphs: list[Paragraph] = []
    pages: list[Breaks] = []
    for block in blocks:
        if block.kind == HEADING:
            level = min(MAIN_LEVEL + levels.index(block.level), LAST_LEVEL)
            sections.append((level, block.text))
        else:
            paragraphs.append((len(sections) - 1, block.kind, block.text, list(block.links)))
            pages.append(block.pages)
    return sections, paragraphs, pages, n_left_out


def _leads_nowhere(blocks: Sequence[Block], number: int) -> bool:
    block = blocks[number]
    if block.kind != HEADING:
        return False
    following = blocks[number + 1] if number + 1 < len(blocks) else None
    return following is None or (following.kind == HEADING and following.level <= block.level)


def guessed(blocks: Sequence[Block]) -> list[Block]:
    """Return blocks whose headings were guessed: all but the first have text under them.

    One without is a paragraph, as the items of a list are that look like numbered headings.
    """
    return [
        replace(block, kind=PARAGRAPH, level=0)
        if number and _leads_nowhere(blocks, number)
        else block
        for number, block in enumerate(blocks)
    ]


def title_from(blocks: Sequence[Block]) -> str:
    """Return the only heading of level 1, else the heading a document begins with, else blank."""
    highest = [block for block in blocks if block.kind == HEADING and block.level == 1]
    titles = highest if len(highest) == 1 else [each for each in blocks[:1] if each.kind == HEADING]
    return titles[0].text[:MAX_TITLE] if titles else ""


def guessed_title(blocks: Sequence[Block]) -> str:
    """Return the heading that a document begins with, else blank, where headings are guessed.

    It is no title where others are as high, unless another heading follows at once.
    """
    begins = bool(blocks) and blocks[0].kind == HEADING
    return blocks[0].text[:MAX_TITLE] if begins and _stands_above(blocks) else ""


def _stands_above(blocks: Sequence[Block]) -> bool:
    """Return whether no heading is as high as the first block, or one follows it at once."""
    high = [block for block in blocks if block.kind == HEADING and block.level <= blocks[0].level]
    return len(high) == 1 or (len(blocks) > 1 and blocks[1].kind == HEADING)


def has_text(blocks: Sequence[Block]) -> bool:
    """Return whether there is anything to ask about."""
    return any(block.kind in (PARAGRAPH, LIST_ITEM) for block in blocks)


# ours: more than a few notes and a table, so that a person should look at what it was.
MOST_LEFT_OUT = 0.05


def share_left_out(kept: int, left_out: Mapping[str, int]) -> float:
    """Return what was left out as a share of all.

    kept: characters that were stored; left_out: those that were not, by rule, blanks in neither.
    """
    lost = sum(left_out.values())
    return lost / (kept + lost) if lost else 0.0


def losses_told(kept: int, left_out: Mapping[str, int]) -> str:
    """Return what was left out in words, the most first; blank for nothing."""
    if not any(left_out.values()):
        return ""
    share = 100 * share_left_out(kept, left_out)
    by_rule = sorted(left_out.items(), key=lambda pair: (-pair[1], pair[0]))
    rules = ", ".join(f"{rule} {number:,}" for rule, number in by_rule if number)
    shown = "under 1" if share < 0.5 else f"{share:.0f}"
    return f"{shown} % of the text (characters: {rules})"
