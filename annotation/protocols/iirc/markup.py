"""Article text with its links as the official file writes them: `<a href="…">…</a>`.

Readers of the official file delete `<[^>]*>` and leave entities alone, so what is left must be
the text that offsets refer to. A literal `<` cannot survive that deletion, and an entity would
move every later offset: it is written as the one code point U+FF1C, which Unicode's
compatibility normalisation (NFKC) turns back into `<`. Nothing else is changed.
"""

import re
from collections.abc import Sequence
from urllib.parse import quote, unquote

from annotation.protocols.iirc.dataset_tree import Link

TAG = re.compile("<[^>]*>")
OPENING = re.compile(r"<a\s[^>]*?href=\"([^\">]*)\"", re.IGNORECASE)
LESS_THAN = "＜"


def readable(text: str) -> str:
    """Return `text` as a reader of the article sees it after deleting the tags."""
    return text.replace("<", LESS_THAN)


def to_markup(text: str, links: Sequence[Link]) -> str:
    """Return `text` with its links as anchors, targets percent-encoded.

    Raises ValueError for links that are not sorted, overlap or reach beyond the text.
    """
    text = readable(text)
    pieces: list[str] = []
    position = 0
    for link in links:
        if not position <= link.start <= link.end <= len(text):
            raise ValueError(
                f"The link to {link.target!r} at {link.start}:{link.end} overlaps the one before "
                "it or leaves the text: sort the links and keep the first of two that overlap."
            )
        pieces.append(text[position : link.start])
        pieces.append(f'<a href="{quote(link.target)}">{text[link.start : link.end]}</a>')
        position = link.end
    return "".join([*pieces, text[position:]])


def from_markup(markup: str) -> tuple[str, tuple[Link, ...]]:
    """Return the text without tags and the links in it; entities and other text stay."""
    pieces: list[str] = []
    links: list[Link] = []
    opened: tuple[str, int] | None = None
    position = length = 0
    for tag in TAG.finditer(markup):
        pieces.append(markup[position : tag.start()])
        length += tag.start() - position
        position = tag.end()
        if opening := OPENING.match(tag.group()):
            opened = (unquote(opening.group(1)), length)
        elif opened and tag.group().lower() == "</a>":
            links.append(Link(opened[0], opened[1], length))
            opened = None
    pieces.append(markup[position:])
    return "".join(pieces), tuple(links)
