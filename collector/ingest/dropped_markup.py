"""Drops tables, files, categories and interlanguage links; tells which categories there were."""

import re

from collector.ingest.titles import Prefix, Titles
from collector.ingest.whitespace_repair import join

# Possessive, or each link without a colon would be looked through backwards too.
_PREFIXED = re.compile(r"\[\[([^\[\]|:\n]++):([^\[\]|\n]*+)(?:\|[^\[\]\n]*+)?(\]\])?")
_EDGE = re.compile(r"\n[ \t:*#;]*\{\||\n[ \t]*\|\}")


def drop_media(text: str, titles: Titles) -> tuple[str, list[str]]:
    """Return `text` without files, categories and interlanguage links, and its categories.

    A file that is never closed is dropped to the end of its line; the time is linear.
    """
    kept: list[str] = []
    categories: list[str] = []
    prefixes = titles.prefixes
    position = 0
    lines_only = False
    for found in _PREFIXED.finditer(text):
        name, title, closed = found.groups()
        prefix = prefixes[name]
        if prefix is None or prefix is Prefix.ELSEWHERE or found.start() < position:
            continue
        start, end = found.span()
        if prefix is Prefix.CATEGORY and closed:
            categories.append(titles.categories[title])
        elif not closed:
            end, lines_only = _end_of_file(text, start, lines_only)
        _append(kept, text[position:start])
        position = end
    if not position:
        return text, categories
    _append(kept, text[position:])
    return "".join(kept), categories


def _append(kept: list[str], piece: str) -> None:
    if kept and kept[-1][-1:] in (" ", "\n", "("):
        join(kept, piece)
    elif piece or not kept:
        kept.append(piece)


def _end_of_file(text: str, start: int, lines_only: bool) -> tuple[int, bool]:
    """Return where the file ends whose caption has links, and whether to look at lines only."""
    if not lines_only:
        end = _end(text, start + 2, len(text))
        if end >= 0:
            return end, False
    # From here on more is opened than closed: looking beyond the line would take quadratic time.
    line_end = text.find("\n", start)
    limit = line_end if line_end >= 0 else len(text)
    end = _end(text, start + 2, limit)
    return (end if end >= 0 else limit), True


def _end(text: str, position: int, limit: int) -> int:
    """Return where the link ends whose `[[` stands before `position`; -1 if not before `limit`."""
    depth = 1
    while depth:
        close = text.find("]]", position, limit)
        if close < 0:
            return -1
        depth += text.count("[[", position, close) - 1
        position = close + 2
    return position


def drop_tables(text: str) -> str:
    """Return `text`, which begins with a newline, without `{| … |}`, nested or not.

    A table that is never closed keeps its lines; those that begin with a bar are no prose.
    """
    if "{" not in text or "{|" not in text:
        return text
    kept: list[str] = []
    opened: list[int] = []
    position = 0
    for edge in _EDGE.finditer(text):
        kept.append(text[position : edge.start()])
        position = edge.end()
        if edge[0].endswith("{|"):
            opened.append(len(kept))
            kept.append("\n|")
        else:
            if opened:
                del kept[opened.pop() :]
            kept.append("\n")
    kept.append(text[position:])
    return "".join(kept)
