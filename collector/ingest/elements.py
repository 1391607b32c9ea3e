"""Drops comments, references and everything else written between tags."""

import re

from collector.ingest.shield import hide

# Dropped with all they enclose: notes, formulas, galleries, source code, tables in HTML.
_ENCLOSING = (
    "ref|references|math|chem|ce|gallery|timeline|score|syntaxhighlight|source|pre|imagemap|hiero|"
    "graph|mapframe|maplink|templatedata|templatestyles|inputbox|categorytree|indicator|includeonly|"
    "table|style|script|dynamicpagelist|rss|charinsert|listing|phonos|langconvert"
)
_OPENING = re.compile(rf"<({_ENCLOSING})(?=[\s/>])[^<>]*>", re.IGNORECASE)
# Literal text: what they enclose is no markup, and may hold the beginning of any.
_LITERAL = ("nowiki", "pre", "syntaxhighlight", "source", "math")

_BLOCK_TAG = re.compile(
    "blockquote|center|dd|div|dl|dt|h[1-6]|hr|li|ol|p|poem|section|td|th|tr|ul|caption|tbody|thead|"
    "tfoot|table"
)
_INLINE_TAG = re.compile(
    "abbr|b|bdi|bdo|big|cite|code|data|del|dfn|em|font|i|ins|kbd|mark|q|rb|rp|rt|rtc|ruby|s|samp|"
    "small|span|strike|strong|sub|sup|time|tt|u|var|wbr|nowiki|noinclude|onlyinclude|ref|references|"
    "includeonly|pre|source|translate|tvar|languages|math|ce|chem|gallery|a|img|syntaxhighlight|"
    "timeline|imagemap|score"
)
_TAG = re.compile(r"</?([a-zA-Z][a-zA-Z0-9]*)[^<>]*>")


def hide_literals(text: str) -> str:
    """Return `text` with the inside of <nowiki> hidden and other literal elements emptied."""
    for tag in _LITERAL:
        if f"<{tag}" in text:
            text = _without_literal(text, tag)
    return text


def _without_literal(text: str, tag: str) -> str:
    first, *parts = text.split(f"<{tag}")
    out = [first]
    for part in parts:
        attributes, closed, inside = part.partition(">")
        inside, ended, after = inside.partition(f"</{tag}>")
        if not closed or attributes.endswith("/") or not ended:
            out.append(f"<{tag}{part}")
        elif tag == "nowiki":
            out.append(hide(inside) + after)
        else:
            out.append(after)
    return "".join(out)


def drop_comments(text: str) -> str:
    """Return `text` without comments; one that stands alone on its line takes the line along."""
    first, *parts = text.split("<!--")
    if not parts:
        return text
    kept = [first]
    for part in parts:
        after = part.partition("-->")[2]
        if kept[-1].endswith("\n") and after.startswith("\n"):
            after = after[1:]
        if after:
            kept.append(after)
    return "".join(kept)


def drop_references(text: str) -> str:
    """Return `text` without <ref> elements; an opening that is never closed loses its tag only."""
    first, *parts = text.split("<ref")
    if not parts:
        return text
    kept = [first]
    waiting: int | None = None
    for part in parts:
        if waiting is None:
            gap = part.find(">")
            if part[:1] not in " >/\n\t" or gap < 0:
                kept.append("<ref" + part)
                continue
            if part[gap - 1 : gap] == "/":
                _append(kept, part[gap + 1 :])
                continue
        end = part.find("</ref")
        if end < 0:
            # A note may quote another: what follows belongs to it until one is closed.
            waiting = len(kept) if waiting is None else waiting
            kept.append("<ref" + part)
            continue
        if waiting is not None:
            del kept[waiting:]
            waiting = None
        _append(kept, part[part.find(">", end) + 1 :])
    return "".join(kept)


def _append(kept: list[str], after: str) -> None:
    """Add what follows something dropped, with one blank where there were two."""
    if kept[-1].endswith(" ") and after[:1] in (" ", ",", ".", ";", ")", "\n"):
        kept[-1] = kept[-1][:-1]
    kept.append(after)


def drop_elements(text: str) -> str:
    """Return `text` without the elements whose content is no prose."""
    lowered = ""
    hopeless: set[str] = set()
    kept, position = [], 0
    for opening in _OPENING.finditer(text):
        if opening.start() < position:
            continue
        tag = opening[1].lower()
        end = opening.end()
        if not opening[0].endswith("/>") and tag not in hopeless:
            lowered = lowered or text.lower()
            close = lowered.find(f"</{tag}", end) if len(lowered) == len(text) else -1
            if close < 0:
                # Asking again for each opening would take quadratic time.
                hopeless.add(tag)
            else:
                end = text.find(">", close) + 1 or len(text)
        kept.append(text[position : opening.start()])
        position = end
    return "".join(kept) + text[position:] if kept else text


def drop_tags(text: str) -> str:
    """Return `text` with tags gone and their content kept; blocks begin a new line."""
    return _TAG.sub(_in_place_of_tag, text)


def _in_place_of_tag(match: re.Match[str]) -> str:
    tag = match[1].lower()
    if tag == "br":
        return " "
    if _BLOCK_TAG.fullmatch(tag):
        return "\n"
    return "" if _INLINE_TAG.fullmatch(tag) else match[0]
