"""Mends the blanks and brackets around a place where something was dropped."""

import re

# Not the empty text: what follows may be dropped as well, and the blank is then still wanted.
_NO_BLANK_BEFORE = (" ", ",", ".", ";", ":", ")", "\n")
# At the start of a line or of a list item, what the dropped thing leaves behind.
_MARKS = ("\n", "*", "#", ":", ";")
_LEFT_OVER = (", ", ". ", "; ", ": ")
# Brackets around brackets around nothing are no prose; deeper ones stay.
MAX_BRACKETS = 6


def join(kept: list[str], after: str) -> None:
    """Append `after` to the pieces `kept`, which end where something was dropped.

    `a  b` becomes `a b`, `a , b` becomes `a, b`, `(; born` becomes `(born`, and brackets with
    nothing left in them go. A line never begins with a blank that the dropped thing hid: it
    would mean preformatted text.
    """
    for _ in range(MAX_BRACKETS):
        before = kept[-1]
        last = before[-1:]
        if last == " " and before[-2:-1] == "(":
            kept[-1] = before[:-1]
        elif last == "(":
            after = after.lstrip(" ,;")
            if after[:1] != ")":
                break
            kept[-1], after = before[:-1], after[1:]
        else:
            if last == " " and after[:1] in _NO_BLANK_BEFORE:
                kept[-1] = before.rstrip(" ,;") if after[:1] == ")" else before[:-1]
            elif last == "\n":
                after = after.lstrip(" ")
            if after[:2] in _LEFT_OVER and _begins_line(kept, before):
                after = after[2:]
            break
    if after:
        kept.append(after)


def _begins_line(kept: list[str], before: str) -> bool:
    """Return whether `before`, the last of the pieces, ends with marks, or with one and a blank."""
    if before[-1:] != " " and before[-1:] not in _MARKS:
        return False
    # Where pieces meet is not where a line begins.
    previous = before[-2:-1] or (kept[-2][-1:] if len(kept) > 1 else "")
    return not previous or previous in _MARKS


def drop_stray(text: str, stray: re.Pattern[str]) -> str:
    """Return `text` with a blank in place of every match of `stray`, nothing where a line begins.

    Nothing at all could make a new one of what stood around it.
    """
    return stray.sub(_blank, text)


def _blank(match: re.Match[str]) -> str:
    before = match.string[match.start() - 1 : match.start()]
    return " " if before and before != "\n" else ""
