"""Reads one page's inline markup: quotes, entities, external links; then a line's links."""

import html
import re
from collections.abc import Callable

from collector.ingest.shield import hide

Link = tuple[int, int, str]
"""start, end: code points into the text; the normalised title of the target."""

_QUOTES = re.compile(r"'{2,}")
_EXTERNAL = re.compile(r"\[(?:https?:|ftp:|mailto:|//)[^\s\]]*[ \t]*([^\]\n]*)\]")
_MAGIC_WORD = re.compile(r"__(?!_)(\w{2,40}?)__")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_VARIANT = re.compile(r"-\{([^{}]*)\}-")
_EMPTY_BRACKETS = re.compile(r"([(（])(?:[\s,;:、，]*([)）])|[\s,;、，]+)")
_PROPER_LINK = re.compile(r"\[\[([^\[\]\n]+(?:\[[^\[\]\n]*\][^\[\]\n]*)*)\]\]")
_STRAY = re.compile(r"\[\[|\]\]|\{\{|\}\}|\{\||\|\}")

# MediaWiki joins letters that follow a link to its label; which letters depends on the language.
_TRAILS = {
    "ar": "a-zء-ي", "fa": "ء-یآ-ی\u200c", "he": "a-zא-ת", "yi": "a-zא-ת", "el": "a-zα-ωάέήίόύώϊϋΐΰ",
    "hi": "a-zऀ-ॣ०-꣠", "ka": "a-zა-ჰ", "hy": "a-zա-և", "ml": "a-zം-ൿ", "zh": "", "ja": "", "ko": "",
}  # fmt: skip
_CYRILLIC = re.compile("be|bg|ba|ce|cv|kk|ky|mk|mn|mrj|os|ru|sah|sr|tg|tt|uk")


def trail_of(language: str) -> Callable[[str], re.Match[str] | None]:
    """Return a function that matches the letters at the start of a text that prolong a link."""
    code = language.lower().partition("-")[0]
    if code in ("en", "simple"):
        letters = "a-z"
    elif _CYRILLIC.fullmatch(code):
        letters = "a-zа-яёѐ-ӿ"
    else:
        letters = _TRAILS.get(code, "a-zß-öø-ÿā-ɏ")
    return re.compile(f"[{letters}]+" if letters else "(?!)").match


def clean(text: str) -> str:
    """Return the page `text` with everything inline resolved but `[[links]]`.

    Characters that entities stand for are hidden (`shield`), so that none becomes markup.
    """
    if "[http" in text or "[//" in text or "[mailto" in text or "[ftp" in text:
        text = _EXTERNAL.sub(r"\1", text)
    if "''" in text:
        text = drop_quotes(text)
    if "__" in text:
        text = _MAGIC_WORD.sub(_in_place_of_magic, text)
    if "-{" in text:
        text = _VARIANT.sub(_in_place_of_variant, text)
    if "&" in text:
        text = text.replace("&nbsp;", " ").replace("&ndash;", "–").replace("&mdash;", "—")
        text = _ENTITY.sub(lambda match: hide(html.unescape(match[0])), text)
    text = text.replace("\xa0", " ").replace("\t", " ")
    text = _EMPTY_BRACKETS.sub(_mended_brackets, text)
    while "  " in text:
        text = text.replace("  ", " ")
    return text.replace(" )", ")").replace("( ", "(")


def drop_quotes(text: str) -> str:
    """Return `text` without the apostrophes that make italics and bold.

    Three of them after a single letter are one apostrophe and italics when a line would otherwise
    have odd numbers of both (`l'''Iliade''` reads l'Iliade), as MediaWiki has it.
    """
    if "'''" in text:
        text = _with_elisions(text)
        text = text.replace("'''''", "").replace("'''", "")
    return text.replace("''", "")


def _with_elisions(text: str) -> str:
    position = text.find("'''")
    while position >= 0:
        if (
            text[position - 1 : position].isalpha()
            and not text[position - 2 : position - 1].isalpha()
        ):
            start = text.rfind("\n", 0, position) + 1
            end = text.find("\n", position)
            end = len(text) if end < 0 else end
            runs = [len(run) for run in _QUOTES.findall(text, start, end)]
            n_bold = sum(run in (3, 4) or run >= 5 for run in runs)
            n_italic = sum(run == 2 or run >= 5 for run in runs)
            if n_bold % 2 and n_italic % 2:
                text = f"{text[:position]}{hide(chr(39))}{text[position + 1 :]}"
        position = text.find("'''", position + 3)
    return text


def _in_place_of_magic(match: re.Match[str]) -> str:
    # Magic words are capitals, or a script without case; `__init__` is neither.
    return "" if match[1] == match[1].upper() else match[0]


def _in_place_of_variant(match: re.Match[str]) -> str:
    flags, bar, words = match[1].rpartition("|")
    if bar and flags.strip() not in ("", "R"):
        return ""
    first = words.partition(";")[0]
    return first.partition(":")[2] or first if ":" in first else words


def _mended_brackets(match: re.Match[str]) -> str:
    """Mend what dropped templates leave: `(; born` → `(born`, and `()` after a blank → nothing."""
    if not match[2]:
        return match[1]
    before = match.string[match.start() - 1 : match.start()]
    return match[0] if before and not before.isspace() else ""


def balanced(line: str) -> str:
    """Return `line` without brackets and braces that belong to no whole link."""
    line = _PROPER_LINK.sub(lambda match: f"\ufdee{match[1]}\ufdef", line)
    line = _STRAY.sub("", line)
    return line.replace("\ufdee", "[[").replace("\ufdef", "]]")


def read_links(
    line: str,
    article: Callable[[str], str | None],
    trail: Callable[[str], re.Match[str] | None],
) -> tuple[str, list[Link]]:
    """Return the plain text of a line whose only markup is balanced `[[links]]`, and its links.

    Links that lead to no article of this wiki (`article` gives None) stay as text. No surface is
    empty, none begins or ends with a blank.
    """
    text, *parts = line.split("[[")
    pieces = [text]
    length = len(text)
    links: list[Link] = []
    for part in parts:
        inner, _, rest = part.partition("]]")
        target, bar, surface = inner.partition("|")
        if rest[:1] == "]" and "[" in inner:
            surface, rest = surface + "]", rest[1:]
        if not bar or not surface or surface.isspace():
            surface = target.removeprefix(":")
        if rest[:1].isalpha() and (letters := trail(rest)):
            surface += letters[0]
            rest = rest[letters.end() :]
        if surface[:1].isspace():
            pieces.append(" ")
            length += 1
        if surface[-1:].isspace():
            rest = " " + rest
        surface = surface.strip()
        if surface and (title := article(target)):
            links.append((length, length + len(surface), title))
        pieces.append(surface)
        pieces.append(rest)
        length += len(surface) + len(rest)
    return "".join(pieces), links
