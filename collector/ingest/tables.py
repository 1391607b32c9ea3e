"""Drops tables."""

import re

_EDGE = re.compile(r"\n[ \t:*#;]*\{\||\n[ \t]*\|\}")


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
