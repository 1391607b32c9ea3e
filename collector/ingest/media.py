"""Drops files, categories and interlanguage links; tells which categories there were."""

import re

from collector.ingest.titles import Prefix, Titles

_PREFIXED = re.compile(r"\[\[([^\[\]|:\n]*):")


def drop_media(text: str, titles: Titles) -> tuple[str, list[str]]:
    """Return `text` without files, categories and interlanguage links, and its categories.

    A file that is never closed is dropped to the end of its line; the time is linear.
    """
    kept: list[str] = []
    categories: list[str] = []
    position = 0
    lines_only = False
    for found in _PREFIXED.finditer(text):
        start = found.start()
        if start < position:
            continue
        prefix = titles.prefixes.get(found[1]) or titles.prefix(found[0][2:])
        if prefix is None or prefix is Prefix.ELSEWHERE:
            continue
        limit = text.find("\n", start) if lines_only else len(text)
        end = _end(text, found.end(), limit if limit >= 0 else len(text))
        if end < 0 and not lines_only:
            # From here on more is opened than closed: look no further than the line.
            lines_only = True
            limit = text.find("\n", start)
            end = _end(text, found.end(), limit if limit >= 0 else len(text))
        if end < 0:
            end = limit if limit >= 0 else len(text)
        elif prefix is Prefix.CATEGORY:
            categories.append(titles.category(text[start + 2 : end - 2].partition("|")[0]))
        before = text[position:start]
        if before.endswith(" ") and text[end : end + 1] in (" ", "\n"):
            before = before[:-1]
        kept.append(before)
        position = end
        if text.startswith(" ", end) and before.endswith("\n"):
            position += 1
    kept.append(text[position:])
    return "".join(kept), [title for title in categories if title]


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
