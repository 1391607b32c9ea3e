"""The links of a page as mwparserfromhell sees them: an oracle for the tests."""

import html
import re
from collections import Counter

import mwparserfromhell
from mwparserfromhell import nodes

from collector.ingest.titles import Prefix, Titles

_DROPPED = frozenset(
    "ref references math chem ce gallery timeline score syntaxhighlight source pre imagemap table "
    "hiero graph mapframe maplink templatestyles nowiki style script includeonly".split()
)
_BLOCKS = frozenset(
    "blockquote center dd div dl dt h1 h2 h3 h4 h5 h6 hr li ol p poem section td th tr ul".split()
)
# Where something was dropped, and where a link stands: what it says goes on with letters after it.
_GONE = "\ue002"
_LINK = re.compile("\ue000(\\d+)\ue001([a-z]*)")
_QUOTES = re.compile("'{2,}")


def prose_links(wikitext: str, titles: Titles) -> Counter[tuple[str, str]]:
    """Return how often each (surface, article) is a link in running prose of an English page.

    Outside templates, tables, references, galleries, files, headings, list items and preformatted
    lines; a line that begins with something dropped is prose. `titles` only normalises.
    """
    targets: list[tuple[str, str]] = []
    # Unpaired apostrophes in a note would otherwise spoil the rest of the page.
    code = mwparserfromhell.parse(wikitext, skip_style_tags=True)
    found: Counter[tuple[str, str]] = Counter()
    for line in _flat(code, titles, targets).split("\n"):
        line = line.lstrip(_GONE + " ") if line.startswith(_GONE) else line
        if line.lstrip("'")[:1] not in ("*", "#", ":", ";", "=", "|", " ", "!"):
            for number, trail in _LINK.findall(line):
                surface, target = targets[int(number)]
                title = titles.known[target]
                if title:
                    found[_bare(surface + trail), title] += 1
    return found


def _bare(surface: str) -> str:
    """Return a link's surface without apostrophes of italics, entities and needless blanks."""
    return " ".join(html.unescape(_QUOTES.sub("", surface).replace(_GONE, "")).split())


def _flat(
    code: mwparserfromhell.wikicode.Wikicode, titles: Titles, targets: list[tuple[str, str]]
) -> str:
    """Return the page's text, links in it as numbers into `targets`."""
    return "".join(_text(node, titles, targets) for node in code.nodes)


def _text(node: nodes.Node, titles: Titles, targets: list[tuple[str, str]]) -> str:
    if isinstance(node, nodes.Template | nodes.Comment | nodes.Argument):
        return _GONE
    if isinstance(node, nodes.Heading):
        return "\n=\n"
    if isinstance(node, nodes.Wikilink):
        return _link(node, titles, targets)
    if isinstance(node, nodes.Tag):
        return _tag(node, titles, targets)
    if isinstance(node, nodes.ExternalLink):
        return _flat(node.title, titles, targets) if node.title is not None else ""
    return str(node)


def _link(node: nodes.Wikilink, titles: Titles, targets: list[tuple[str, str]]) -> str:
    target = str(node.title)
    name, colon, _ = target.partition(":")
    prefix = titles.prefixes[name] if colon else None
    if prefix not in (None, Prefix.ELSEWHERE):
        return _GONE
    if "{{" in target or "\n" in target:
        return ""
    label = _flat(node.text, titles, []) if node.text is not None else ""
    targets.append((label if _bare(label) else target, target))
    return f"\ue000{len(targets) - 1}\ue001"


def _tag(node: nodes.Tag, titles: Titles, targets: list[tuple[str, str]]) -> str:
    name = str(node.tag).strip().lower()
    if name in _DROPPED:
        return _GONE
    if node.wiki_markup in ("*", "#", ":", ";"):
        return node.wiki_markup
    around = "\n" if name in _BLOCKS or node.wiki_markup else ""
    inside = _flat(node.contents, titles, targets) if node.contents is not None else ""
    return f"{around}{inside}{around}"
