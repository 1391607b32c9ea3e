"""Tells raised digits that belong to a number, a unit or a formula from the marks of notes."""

import re

_SIGNED = re.compile(r"[+\-−–]\d+|\d*[+\-−–]")
# Before it no letter, digit or sign of money: 10, but not 1910 or £10.
_NUMBER = re.compile(r"(?<![\w.,$£€¥])\d+(?:[.,]\d+)*$")
_YEAR = re.compile(r"1\d{3}|20\d\d")
_THOUSANDS = re.compile(r",\d{3}")
# 10⁻²⁷ and 2¹⁰; other numbers have one digit raised, or the mark of a note.
_BASES = frozenset({"10", "2"})
_METRE = re.compile(r"(?<![^\W\d_])[kcdhmnµμ]?m$")
_UNIT = re.compile(r"(?:\d\s?|[/·⋅*]\s?|\bper )(?:ft|in|yd|mi|s|sec|h|g|kg|V|A|K|Hz|px|dm)$")
_VARIABLE = re.compile(r"(?<![\w’'])[^\W\d_]$")
_AFTER_EQUALS = re.compile(r"=\s*\w{1,3}$")
_BRACKETED = re.compile(r"\(([^()]*)\)$")
_ARITHMETIC = re.compile(r"[+−×*/^=±-]|\d[.,]\d|^[^\W\d_]$")
_WORD = re.compile(r"[^\W\d_]{3}")
_ELEMENT = re.compile(r"[A-Z][a-z]?(?![^\W\d_])")


def is_exponent(before: str, raised: str, after: str = "") -> bool:
    """Return whether `raised`, which stands higher than the text around it, is read with that text.

    A page says only that digits are raised. After a word, a year, an amount or a full stop, and
    where a line begins, they are the mark of a note.
    """
    if not before.strip():
        return False
    if before[-1].isspace():
        # 14 before C: an isotope.
        return raised.isdigit() and _ELEMENT.match(after) is not None
    if _SIGNED.fullmatch(raised):
        return before[-1].isalnum() or before[-1] in ")]"
    if not raised.isdigit():
        return False
    if number := _NUMBER.search(before):
        written = number[0]
        is_amount = _YEAR.fullmatch(written) or _THOUSANDS.search(written)
        return written in _BASES or (len(raised) == 1 and not is_amount)
    if bracketed := _BRACKETED.search(before):
        inside = bracketed[1]
        return bool(_ARITHMETIC.search(inside)) and not _WORD.search(inside)
    return any(found.search(before) for found in (_METRE, _UNIT, _VARIABLE, _AFTER_EQUALS))
