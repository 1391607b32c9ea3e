"""Hides characters that would be read as markup, one for one, so that no offset moves."""

# Unicode's noncharacters never occur in text, and MediaWiki refuses them.
_HIDDEN = {character: chr(0xFDD0 + n) for n, character in enumerate("[]{}|=*#:;!'_<>&-")}
_HIDE = str.maketrans({**_HIDDEN, "\n": " "})
_SHOW = str.maketrans({hidden: character for character, hidden in _HIDDEN.items()})


def hide(text: str) -> str:
    """Return `text` with every character that could be markup replaced by a stand-in."""
    return text.translate(_HIDE)


def show(text: str) -> str:
    """Return `text` with stand-ins turned back; as long as before."""
    return text.translate(_SHOW)
