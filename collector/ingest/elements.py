"""Inline wikitext as plain text: quotes, angle brackets, gaps that dropped markup leaves."""

import html
import re
from collections.abc import Iterator
from enum import Enum
from functools import lru_cache

from collector.ingest.dump import decoded, narrow, unescaped
from collector.ingest.raised import lowered, raised
from collector.ingest.titles import Prefix, Titles, hide, hide_structure, hides, keep_apart

# Not the empty text: what follows may be dropped as well, and the blank is then still wanted.
_NO_BLANK_BEFORE = (" ", ",", ".", ";", ":", ")", "\n")
# At the start of a line or of a list item, what the dropped thing leaves behind.
_MARKS_OF_LINES = ("\n", "*", "#", ":", ";")
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
    if before[-1:] != " " and before[-1:] not in _MARKS_OF_LINES:
        return False
    # Where pieces meet is not where a line begins.
    previous = before[-2:-1] or (kept[-2][-1:] if len(kept) > 1 else "")
    return not previous or previous in _MARKS_OF_LINES


def drop_stray(text: str, stray: re.Pattern[str]) -> str:
    """Return `text` with a blank in place of every match of `stray`, nothing where a line begins.

    Nothing at all could make a new one of what stood around it.
    """
    return stray.sub(_blank, text)


def _blank(match: re.Match[str]) -> str:
    before = match.string[match.start() - 1 : match.start()]
    return " " if before and before != "\n" else ""


# Where an external link without a label stood; no character of any text.
_GONE = "\ufdd0"
_AROUND_GONE = re.compile(rf"[ ]?\({_GONE}\)|{_GONE}")
# How pages are asked whether they have many: more than this number in their beginning.
BEGINNING, FEW_DOUBLE_BLANKS = 5000, 3

_QUOTES = re.compile(r"'{2,}")
_BOLD = re.compile("'''")
_MARKS = re.compile("''(?:'(?:'')?)?")
_EXTERNAL = re.compile(
    r"\[(?:https?:|ftp:|mailto:|//)[^\s\[\]]*+[ \t]*+"
    r"([^\[\]\n]*+(?:\[\[[^\[\]\n]*+\]\][^\[\]\n]*+)*+)\]"
)
_MAGIC_WORD = re.compile(r"__(?!_)(\w{2,40}?)__")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_VARIANT = re.compile(r"-\{([^{}]*+)\}-")
_STRAY = re.compile(r"\{\{|\}\}|\{\||\|\}")
_VARIANTS = re.compile("zh|sr|kk|ku|iu|shi|tg|uz|gan|crh|wuu")


def has_variants(language: str) -> bool:
    """Return whether wikis in `language` write -{one;or another}- script."""
    return bool(_VARIANTS.fullmatch(language.partition("-")[0]))


def clean(text: str, *, variants: bool = False) -> str:
    """Return the page `text` with everything inline resolved but `[[links]]`.

    Characters that entities stand for are hidden (`shield`), so that none becomes markup.
    """
    # A search for one character is far cheaper than one for two.
    if "[" in text:
        text = _EXTERNAL.sub(_in_place_of_external, text)
        if _GONE in text:
            text = _AROUND_GONE.sub("", text)
    if "'" in text:
        text = drop_quotes(text)
    if "_" in text and "__" in text:
        text = _MAGIC_WORD.sub(_in_place_of_magic, text)
    if variants:
        text = _VARIANT.sub(_in_place_of_variant, text)
    if "{" in text or "}" in text:
        text = drop_stray(text, _STRAY)
    if "&" in text:
        text = _ENTITY.sub(_in_place_of_entity, text)
    if hides(text):
        text = keep_apart(text)
    text = text.replace("\xa0", " ").replace("\t", " ")
    # A few are cheaper to mend where they stand, paragraph by paragraph.
    many = text.count("  ", 0, BEGINNING) > FEW_DOUBLE_BLANKS
    return text.replace("  ", " ") if many else text


def _in_place_of_external(match: re.Match[str]) -> str:
    return match[1] or _GONE


@lru_cache(maxsize=2000)
def _character(entity: str) -> str:
    return hide_structure(html.unescape(entity))


def _in_place_of_entity(match: re.Match[str]) -> str:
    return _character(match[0])


def drop_quotes(text: str) -> str:
    """Return `text` without the apostrophes that make italics and bold.

    Where a line would have odd numbers of both, three of them are one apostrophe and italics, as
    MediaWiki has it: `l'''Iliade''` reads l'Iliade, and `''Desire'''s` Desire's.
    """
    done = 0
    pieces: list[str] = []
    for place in _apostrophes(text):
        # A stand-in would make a wide string of the page, and every search in it slower.
        pieces += (_MARKS.sub("", text[done:place]), "'")
        done = place + 1
    rest = _MARKS.sub("", text[done:] if done else text)
    return "".join(pieces) + rest if pieces else rest


def _apostrophes(text: str) -> Iterator[int]:
    """Yield where the one apostrophe is in each line with odd numbers of bold and italics."""
    end = 0
    # A pattern finds three characters in a third of the time that `find` takes among wide ones.
    while bold := _BOLD.search(text, end):
        start = text.rfind("\n", 0, bold.start()) + 1
        end = text.find("\n", bold.start())
        end = end if end >= 0 else len(text)
        runs = [len(run) for run in _QUOTES.findall(text, start, end)]
        n_bold = sum(run != 2 for run in runs)
        n_italic = sum(run not in (3, 4) for run in runs)
        if n_bold % 2 and n_italic % 2 and (place := _apostrophe(text, start, end)) >= 0:
            yield place


def _apostrophe(text: str, start: int, end: int) -> int:
    """Return where three hold an apostrophe: after a letter, else a word, else a blank; or -1."""
    places = [run.end() - 3 for run in _QUOTES.finditer(text, start, end) if len(run[0]) in (3, 4)]

    def rank(place: int) -> int:
        before = text[max(0, place - 2) : place]
        if before[-1:].isalpha() and not before[:-1].isalpha():
            return 0
        return 2 if before.endswith(" ") else 1

    return min(places, key=rank, default=-1)


def _in_place_of_magic(match: re.Match[str]) -> str:
    # Magic words are capitals, or a script without case; `__init__` is neither.
    return "" if match[1] == match[1].upper() else match[0]


def _in_place_of_variant(match: re.Match[str]) -> str:
    flags, bar, words = match[1].rpartition("|")
    if bar and flags.strip() not in ("", "R"):
        return ""
    first = words.partition(";")[0]
    return first.partition(":")[2] or first if ":" in first else words


# Possessive, or each link without a colon would be looked through backwards too.
_PREFIXED = re.compile(r"\[\[([^\[\]|:\n]++):([^\[\]|\n]*+)(?:\|[^\[\]\n]*+)?(\]\])?")
_EDGE = re.compile(r"\n[ \t:*#;]*\{\||\n[ \t]*\|\}")


def drop_media(text: str, titles: Titles) -> tuple[str, list[str]]:
    """Return `text` without files, categories and interlanguage links, and its categories.

    A file that is never closed is dropped to the end of its line; the time is linear.
    """
    kept: list[str] = []
    categories: list[str] = []
    prefixes = titles.prefixes
    position = 0
    lines_only = False
    for found in _PREFIXED.finditer(text):
        name, title, closed = found.groups()
        prefix = prefixes[name]
        if prefix is None or prefix is Prefix.ELSEWHERE or found.start() < position:
            continue
        start, end = found.span()
        if prefix is Prefix.CATEGORY and closed:
            categories.append(titles.categories[title])
        elif not closed:
            end, lines_only = _end_of_file(text, start, lines_only)
        _append(kept, text[position:start])
        position = end
    if not position:
        return text, categories
    _append(kept, text[position:])
    return "".join(kept), categories


def _append(kept: list[str], piece: str) -> None:
    if kept and kept[-1][-1:] in (" ", "\n", "("):
        join(kept, piece)
    elif piece or not kept:
        kept.append(piece)


def _end_of_file(text: str, start: int, lines_only: bool) -> tuple[int, bool]:
    """Return where the file ends whose caption has links, and whether to look at lines only."""
    if not lines_only:
        end = _end(text, start + 2, len(text))
        if end >= 0:
            return end, False
    # From here on more is opened than closed: looking beyond the line would take quadratic time.
    line_end = text.find("\n", start)
    limit = line_end if line_end >= 0 else len(text)
    end = _end(text, start + 2, limit)
    return (end if end >= 0 else limit), True


def _end(text: str, position: int, limit: int) -> int:
    """Return where the link ends whose `[[` stands before `position`; -1 if not before `limit`."""
    depth = 1
    while depth:
        close = text.find("]]", position, limit)
        if close < 0:
            return -1
        depth += text.count("[[", position, close) - 1
        position = close + 2
    return position


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
# What may dress up what is raised, and the most tags of it.
_DRESS = re.compile(r"/?(?:b|big|em|i|nobr|s|small|span|strong|u|var)\b", re.I)
MOST_DRESS = 6
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
        else:
            index = _drop_tag(kept, parts, index, hopeless)
    return decoded("".join(kept))


def _after(part: str, gap: int) -> str:
    """Return the text after the bracket that closes at `gap` of `part`."""
    return unescaped(part[gap + len(_CLOSE) :])


def _after_tag(part: str) -> str:
    return unescaped(part.partition(_CLOSE)[2])


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
    after = _after(part, gap)
    if action is _Action.BLOCK:
        after = "\n" + after
    elif action is _Action.BREAK:
        # At the start of a line a blank would mean preformatted text.
        after = after.lstrip(" ") if kept[-1].endswith("\n") else " " + after
    if after:
        kept.append(after)
    return index
