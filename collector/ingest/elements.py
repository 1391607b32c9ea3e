"""Drops comments, references and whatever else is written with angle brackets."""

import re
from enum import Enum

from collector.ingest.markup_escaping import hide
from collector.ingest.raised import lowered, raised
from collector.ingest.whitespace_repair import join
from collector.ingest.xml_text import decoded, narrow, unescaped


class _Action(Enum):
    ENCLOSING = "goes with all it encloses"
    LITERAL = "encloses no markup"
    BREAK = "is a blank"
    BLOCK = "begins a new line"
    INLINE = "leaves what it encloses"
    RAISED = "stands higher or lower than its line"


_TAGS = {
    # Notes, formulas, galleries, source code, tables in HTML.
    _Action.ENCLOSING: (
        "ref references math chem ce gallery timeline score syntaxhighlight source pre imagemap "
        "hiero graph mapframe maplink templatedata templatestyles inputbox categorytree indicator "
        "includeonly table style script dynamicpagelist rss listing phonos langconvert"
    ),
    _Action.LITERAL: "nowiki",
    _Action.BREAK: "br",
    _Action.BLOCK: (
        "blockquote center dd div dl dt h1 h2 h3 h4 h5 h6 hr li ol p poem section td th tr ul "
        "caption tbody thead tfoot"
    ),
    _Action.INLINE: (
        "abbr b bdi bdo big cite code data del dfn em font i ins kbd mark q rb rp rt rtc ruby s "
        "samp small span strike strong time tt u var wbr noinclude onlyinclude "
        "translate tvar languages a img"
    ),
    _Action.RAISED: "sub sup",
}
_ACTIONS = {tag: action for action, tags in _TAGS.items() for tag in tags.split()}
# Formulas, which are left out.
FORMULAS = re.compile(rb"&lt;(?:math|chem|ce)\b", re.I)
# What may dress up what is raised; so many tags at most.
_DRESS = re.compile(r"/?(?:b|big|em|i|nobr|s|small|span|strong|u|var)\b", re.I)
MOST_DRESS = 6
_QUOTES = re.compile("'{2,}")
_LINK = re.compile(r"(\[\[(?:[^\[\]|]*\|)?)([^\[\]|]*)\]\]")
_NAME = re.compile(r"(/?)([a-zA-Z][a-zA-Z0-9]*)")
# How XML writes the angle brackets of wikitext.
_OPEN, _CLOSE = "&lt;", "&gt;"


def drop_elements(xml: bytes) -> str:
    """Return the text of `xml` without comments, tags, and elements whose content is no prose.

    The inside of <nowiki> is hidden. An opening that is never closed loses its tag only, a comment
    takes the rest of the page, as on the wiki; the time is linear.

    What goes is neither decoded nor are its references replaced: in articles it is about half.
    Raises MalformedPage as `text_of` does for what stays.
    """
    # A bracket that closes need not be written as a reference.
    first, *parts = narrow(xml.replace(b">", b"&gt;")).split(_OPEN)
    kept = [unescaped(first)]
    hopeless: set[str] = set()
    index, n = 0, len(parts)
    while index < n:
        part = parts[index]
        index += 1
        if part.startswith("ref") and part[3:4] in (" ", "&", "/", "\n"):
            gap = part.find(_CLOSE)
            if index < n and part[gap - 1] != "/" and gap > 0 and parts[index][:8] == "/ref&gt;":
                # Nearly all references: nothing between their tags has tags.
                after = unescaped(parts[index][8:])
                index += 1
            elif gap > 0 and part[gap - 1] == "/":
                after = _after(part, gap)
            else:
                index = _drop_enclosing(kept, parts, index, "ref", hopeless)
                continue
            if kept[-1][-1:] in (" ", "\n", "("):
                join(kept, after)
            elif after:
                kept.append(after)
        elif part.startswith("!--"):
            index = _drop_comment(kept, parts, index)
        else:
            index = _drop_tag(kept, parts, index, hopeless)
    return decoded("".join(kept))


def _after(part: str, gap: int) -> str:
    """Return the text after the bracket that closes at `gap` of `part`."""
    return unescaped(part[gap + len(_CLOSE) :])


def _after_tag(part: str) -> str:
    return unescaped(part.partition(_CLOSE)[2])


def _drop_comment(kept: list[str], parts: list[str], index: int) -> int:
    """Drop the comment that begins with part `index - 1`; return the part to go on with."""
    position = parts[index - 1].find("--&gt;", 3)
    while position < 0 and index < len(parts):
        position = parts[index].find("--&gt;")
        index += 1
    after = _after(parts[index - 1], position + 2) if position >= 0 else ""
    if after.startswith("\n") and kept[-1].endswith("\n"):
        # A comment alone on its line takes the line along, or it would end a paragraph.
        after = after[1:]
        if after:
            kept.append(after)
    else:
        join(kept, after)
    return index


def _drop_enclosing(
    kept: list[str], parts: list[str], index: int, tag: str, hopeless: set[str]
) -> int:
    """Drop the element opened by part `index - 1`; return the part to go on with."""
    part = parts[index - 1]
    gap = part.find(_CLOSE)
    if gap < 0:
        # A tag that is never finished: the rest of its line belongs to it.
        line_end = part.find("\n")
        join(kept, unescaped(part[line_end:]) if line_end >= 0 else "")
        return index
    if part[gap - 1] == "/" or tag in hopeless:
        join(kept, _after(part, gap))
        return index
    end = _closing(parts, index, tag)
    if end < 0:
        # Asking again for each opening would take quadratic time.
        hopeless.add(tag)
        join(kept, _after(part, gap))
        return index
    join(kept, _after_tag(parts[end]))
    return end + 1


def _closing(parts: list[str], index: int, tag: str) -> int:
    """Return the first part from `index` that closes `tag`, -1 if there is none."""
    close, length, depth = "/" + tag, len(tag) + 1, 1
    for position in range(index, len(parts)):
        start = parts[position][:length]
        if start == close or start.lower() == close:
            depth -= 1
            if not depth:
                return position
        elif tag == "table" and start[:-1].lower() == tag:
            depth += 1
    return -1


def _drop_tag(kept: list[str], parts: list[str], index: int, hopeless: set[str]) -> int:
    part = parts[index - 1]
    name = _NAME.match(part)
    tag = name[2].lower() if name else ""
    action = _ACTIONS.get(tag)
    gap = part.find(_CLOSE)
    if name is None or action is None or gap < 0:
        kept.append("<" + unescaped(part))
        return index
    if action is _Action.ENCLOSING and not name[1]:
        return _drop_enclosing(kept, parts, index, tag, hopeless)
    if action is _Action.LITERAL and not name[1] and part[gap - 1] != "/" and tag not in hopeless:
        end = _closing(parts, index, tag)
        if end >= 0:
            inside = _OPEN.join([part[gap + len(_CLOSE) :], *parts[index:end]])
            shown = hide(decoded(unescaped(inside)))
            kept.append(narrow(shown.encode()) + _after_tag(parts[end]))
            return end + 1
        hopeless.add(tag)
    if action is _Action.RAISED and not name[1]:
        return _write_raised(kept, parts, index, tag)
    after = _after(part, gap)
    if action is _Action.BLOCK:
        after = "\n" + after
    elif action is _Action.BREAK:
        # At the start of a line a blank would mean preformatted text.
        after = after.lstrip(" ") if kept[-1].endswith("\n") else " " + after
    if after:
        kept.append(after)
    return index


def _write_raised(kept: list[str], parts: list[str], index: int, tag: str) -> int:
    """Write the element opened by part `index - 1` on its line; return the part to go on with.

    With more than words inside, its tags alone go; a number after a number stays apart by its sign.
    """
    first = _after_tag(parts[index - 1])
    inside, end = first, index
    while end < min(index + MOST_DRESS, len(parts)) and _DRESS.match(parts[end]):
        inside += _after_tag(parts[end])
        end += 1
    if end == len(parts) or not parts[end].lower().startswith("/" + tag):
        if first[:1].isdigit() and kept[-1][-1:].isdigit():
            kept.append("^" if tag == "sup" else "_")
        if first:
            kept.append(first)
        return index
    plain = decoded(_QUOTES.sub("", inside))
    link = _LINK.fullmatch(plain)
    words = link[2] if link else plain
    written = (raised if tag == "sup" else lowered)(words, kept[-1].rstrip("'"))
    if "{{" in inside:
        # What it says is known once its templates are read.
        shown = f"{{{{{tag}|1={inside}}}}}"
    elif written == words:
        shown = inside
    else:
        # A link to what stands there keeps its target.
        target = link[1] if link and link[1].endswith("|") else f"[[{words}|"
        shown = narrow((f"{target}{written}]]" if link else written).encode())
    if shown := shown + _after_tag(parts[end]):
        kept.append(shown)
    return end + 1
