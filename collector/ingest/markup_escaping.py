"""Hides characters that would be read as markup, one for one, so that no offset moves."""

# Unicode's noncharacters never occur in text, and MediaWiki refuses them.
_FIRST = 0xFDD0
_HIDDEN = {character: chr(_FIRST + 1 + n) for n, character in enumerate("[]{}|=*#:;!'_<>&- ")}
_HIDE = str.maketrans({**_HIDDEN, "\n": _HIDDEN[" "]})
_SHOW = str.maketrans({hidden: character for character, hidden in _HIDDEN.items()})


def hide(text: str) -> str:
    """Return `text` with every character that could be markup replaced by a stand-in."""
    return text.translate(_HIDE)


def hide_structure(text: str) -> str:
    """Return `text`, a character that an entity stands for, hidden if lines or links have it."""
    return text.translate(_HIDE) if text in _STRUCTURE else text


def keep_apart(text: str) -> str:
    """Return `text` with a blank between hidden brackets in a row, which are no markup to anyone.

    `<nowiki>[[</nowiki>` is read as `[ [`: whoever finds `[[` in a paragraph has found an error.
    """
    for first, second in _PAIRS:
        while first + second in text:
            text = text.replace(first + second, f"{first} {second}")
    return text


def show(text: str) -> str:
    """Return `text` with stand-ins turned back; as long as before."""
    return text.translate(_SHOW)


def hides(text: str) -> bool:
    """Return whether there is a stand-in in `text`."""
    return not text.isascii() and any(hidden in text for hidden in _SHOWN)


_STRUCTURE = frozenset("[]{}|=*#:;!- \n")
# Brackets in a row of which at least one is hidden.
_PAIRS = [
    (first, second)
    for pair in ("[[", "]]", "{{", "}}", "{|", "|}")
    for first in (pair[0], _HIDDEN[pair[0]])
    for second in (pair[1], _HIDDEN[pair[1]])
    if first + second != pair
]
_SHOWN = tuple(_HIDDEN.values())
