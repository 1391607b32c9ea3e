"""What wikis in many languages call files, categories, redirects, infoboxes, lists of meanings."""

import tomllib
from pathlib import Path

_TABLE = tomllib.loads(Path(__file__).with_name("wiki_names.toml").read_text(encoding="utf-8"))


def _names(key: str) -> frozenset[str]:
    lines = _TABLE[key].strip().splitlines()
    return frozenset(name.strip() for line in lines for name in line.split("|"))


FILES = _names("files")
CATEGORIES = _names("categories")
OTHER_NAMESPACES = _names("other_namespaces")
INTERWIKI = _names("interwiki")
LANGUAGES = frozenset(_TABLE["languages"].split())
REDIRECTS = _names("redirects")
_DISAMBIGUATION = _names("disambiguation")
_INFOBOXES = tuple(sorted(_names("infoboxes")))
_LISTS = tuple(sorted(f"{name} " for name in _names("lists")))


def is_list_title(title: str, language: str) -> bool:
    """Return whether an article of that title is a list, such as `List of rivers of Wales`."""
    beginnings = ("list of ", "lists of ") if language in ("en", "simple") else _LISTS
    return title.lower().startswith(beginnings)


def is_infobox(template: str) -> bool:
    """Return whether a template of that name, in lower case, says what kind a thing is of."""
    return template.startswith(_INFOBOXES)


def is_disambiguation(template: str) -> bool:
    """Return whether a template of that name, in lower case, marks a list of meanings."""
    return template in _DISAMBIGUATION
