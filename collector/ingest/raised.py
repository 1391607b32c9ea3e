"""Writes raised and lowered letters so that numbers stay what they are: 10⁶, not 106."""

import html
import re

_PLAIN = "0123456789+-−–=()"
_RAISED_LETTERS = "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖ𐞥ʳˢᵗᵘᵛʷˣʸᶻ"
_LOWERED_LETTERS = dict(zip("aehijklmnoprstuvx", "ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ", strict=True))
_RAISED = {
    **dict(zip(_PLAIN, "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻⁼⁽⁾", strict=True)),
    **dict(zip("abcdefghijklmnopqrstuvwxyz", _RAISED_LETTERS, strict=True)),
}
_LOWERED = {**dict(zip(_PLAIN, "₀₁₂₃₄₅₆₇₈₉₊₋₋₋₌₍₎", strict=True)), **_LOWERED_LETTERS}
# Signs of a formula; words, remarks in brackets, and marks of notes have none or are none.
_DIGITS = r"\d⁰¹²³⁴-⁹₀-₉"
_IN_FORMULA = re.compile(rf"[{_DIGITS}+\-−–=/×·^]")
_IS_REMARK = re.compile(rf"[^\W_{_DIGITS}]{{3}}|[\[\]{{}}<>*†‡§]")
_SIGN = re.compile(r"\s*([+\-−–=])\s*")
# Letters that stand for numbers; others are ordinals (5e, 1er) and abbreviations (Mlle, no).
_VARIABLES = frozenset("ijkmnpqxyz")
_ORDINALS = frozenset("aehorstdº")
_SIMPLE = re.compile(r"[+\-−]?\d+(?:[.,]\d+)*|\w")
_LIST = re.compile(r"\d+(?:,\d+)+")


def raised(text: str, before: str = "") -> str:
    """Return what stands raised after `before`: 6 as ⁶, -27.5 as ^-27.5, th as it is."""
    return _written(text, before, _RAISED, "^")


def lowered(text: str, before: str = "") -> str:
    """Return what stands lowered after `before`: 2 as ₂, max as it is."""
    return _written(text, before, _LOWERED, "_")


def _written(text: str, before: str, signs: dict[str, str], mark: str) -> str:
    bare = _SIGN.sub(r"\1", html.unescape(text).strip())
    after_number = before[-1:].isdigit() or before[-1:] == ")"
    if len(bare) == 1 and bare.isalpha():
        is_number = bare in _VARIABLES or (after_number and bare.lower() not in _ORDINALS)
    else:
        is_number = bool(_IN_FORMULA.search(bare)) and not _IS_REMARK.search(bare)
    if not is_number:
        return text
    if _LIST.fullmatch(bare):
        return ",".join("".join(map(signs.__getitem__, part)) for part in bare.split(","))
    if all(sign in signs for sign in bare):
        return "".join(map(signs.__getitem__, bare))
    if mark == "_" and not after_number:
        # Names such as 5-HT1A are written on the line.
        return text
    return mark + (bare if _SIMPLE.fullmatch(bare) else f"({bare})")
