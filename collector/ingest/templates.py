"""Drops templates, but keeps the words of those that only dress words up."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from collector.ingest.number_templates import MEASURES, Reader, fraction
from collector.ingest.number_templates import READERS as OF_NUMBERS
from collector.ingest.whitespace_repair import join
from collector.ingest.wiki_names import is_disambiguation, is_infobox

# MediaWiki expands no template deeper than this.
MAX_DEPTH = 40
# A template that dresses up more text than this is a layout, not a phrase.
MAX_CHARACTERS = 5000
# Names remembered at most.
MAX_NAMES = 50_000
# More than any article has; names as long as a title may be.
MAX_INFOBOXES = 50
MAX_NAME = 255
# Among wide characters a pattern cuts in half the time that `split` takes.
_OPENING = re.compile(r"\{\{")
_NAMED = re.compile(r"\s*([\w -]+?)\s*=")
# Named for the language or the script of their first argument.
_LANGUAGE = re.compile(r"lang-[a-z-]+|script/.+")
# {{formatnum:12000}} has its number in its name.
_FORMATTED = re.compile(r"formatnum ?: ?([\d.,]+)")

# Shown as their first argument, their second, their last.
_FIRST = """
nowrap|nobr|nobold|small|smaller|big|larger|em|strong|abbr|tooltip|sic|bdo|bdi|mvar
ill|interlanguage link|illm|iw|nihongo|nihongo2|nihongo3|flag|flagu|flagcountry|vanchor|smallcaps|sc
visible anchor|char|code|mono|samp|kbd|var|strikethrough|underline|ipa|unicode|noitalic|normal
formatnum|q|nts|interlanguage link multi|vr|iast|proper name|not a typo|center
"""
_SECOND = "script|lang|langx|abbrlink|rtl-lang|smallcaps2|audio"
_LAST = "transl|transliteration|font color|colored text"
# Shown on lines of their own.
_QUOTED = "quote|blockquote|cquote|bq|quotation|rquote"
_PREFIXES = {
    "c. ": "circa|c.",
    "fl. ": "floruit|fl.",
    "As of ": "as of",
    "US$": "us$|usd",
    "£": "gbp|£",
    "€": "eur|€|euro",
    "₹": "inr|₹|indian rupee",
    "¥": "jpy|¥",
    "A$": "aud|a$",
    "C$": "cad|ca$",
    "No. ": "numero|no.",
    "née ": "nee|née",
    "né ": "né",
    "ISBN ": "isbn",
    "INS ": "ins",
    "USS ": "uss",
    "HMS ": "hms",
    "RMS ": "rms",
    "SS ": "ss",
    "HMAS ": "hmas",
    "HMCS ": "hmcs",
}
_CHARACTERS = {
    " – ": "snds|snd|spnd|spaced ndash|spaced en dash|dash|spndash|sndash",
    " — ": "spaced mdash|spaced em dash|smd",
    "–": "ndash|endash|en dash|nd",
    "—": "mdash|emdash|em dash|md|mdashb|nsmdns",
    " ": "sp|nbsp|space|spaces|thinsp|thin space|hair space|nnbsp",
    " · ": "·|middot|dot",
    " • ": "•|bull|bullet",
    "'": "'|apostrophe|-'|'-",
    "'s": "'s",
    '"': '"|\'\'|-"|"-',
    "'\"": "'\"|' \"",
    "\"'": "\"'|\" '",
    "LORD": "lord",
    "ʻ": "okina|ʻokina",
    "=": "=",
}


def reader_of(name: str) -> Reader | None:
    """Return what makes words of the template called `name` (lower case); None: it has none."""
    if number := _FORMATTED.fullmatch(name):
        return _constant(number[1])
    return _READERS.get(name) or (_nth(0) if _LANGUAGE.fullmatch(name) else None)


def arguments_of(content: str) -> tuple[list[str], dict[str, str]]:
    """Return the positional arguments of a template's inside, `1=` included, and the named ones.

    Bars in links stay.
    """
    arguments: list[str] = []
    depth = 0
    for part in content.split("|")[1:]:
        if depth > 0:
            arguments[-1] += "|" + part
        else:
            arguments.append(part)
        depth += part.count("[[") - part.count("]]")
    positional: list[str] = []
    named: dict[str, str] = {}
    for argument in arguments:
        name = _NAMED.match(argument) if "=" in argument else None
        if name is None:
            positional.append(argument)
        elif name[1].isdigit():
            positional.append(argument[name.end() :])
        else:
            named[name[1]] = argument[name.end() :].strip()
    return positional, named


def _nth(n: int) -> Reader:
    return lambda arguments, named: arguments[n] if n < len(arguments) else ""


def _last(arguments: list[str], named: Mapping[str, str]) -> str:
    return arguments[-1] if arguments else ""


def _quoted(arguments: list[str], named: Mapping[str, str]) -> str:
    return f"\n{arguments[0]}\n" if arguments else ""


def _prefixed(prefix: str) -> Reader:
    return lambda arguments, named: f"{prefix}{arguments[0]}" if arguments else prefix.strip()


def _constant(text: str) -> Reader:
    return lambda arguments, named: text


def _readers() -> dict[str, Reader]:
    groups: list[tuple[str, Reader]] = [
        (_FIRST.strip().replace("\n", "|"), _nth(0)),
        (_SECOND, _nth(1)),
        (_LAST, _last),
        (_QUOTED, _quoted),
    ]
    groups += [(names, _prefixed(prefix)) for prefix, names in _PREFIXES.items()]
    groups += [(names, _constant(character)) for character, names in _CHARACTERS.items()]
    read = {name: reader for names, reader in groups for name in names.split("|")}
    return {**read, **OF_NUMBERS}


_READERS = _readers()


class Dropped(NamedTuple):
    """Text without its templates, and what those said of the page.

    infoboxes: their names in order, each once, in lower case. n_unread: how many numbers and
    measures could not be read.
    """

    text: str
    is_disambiguation: bool
    infoboxes: list[str]
    n_unread: int


class Templates:
    """Drops the templates of pages; remembers what their names mean."""

    def __init__(self, *, phrases: bool = True) -> None:
        """Make one for a process; without `phrases` no template leaves any words."""
        self._phrases = phrases
        self._readers: dict[str, Reader | None] = {}

    def drop(self, text: str) -> Dropped:
        """Return `text` without templates, whether one marks it as a list of meanings, infoboxes.

        An opening without an end loses its braces only; the time is linear in any nesting.
        """
        first, *parts = _OPENING.split(text)
        kept: list[str] = [first]
        opened: list[int] = []
        marked = False
        n_unread = 0
        infoboxes: dict[str, None] = {}
        readers = self._readers
        for part in parts:
            inside, *afters = part.split("}}")
            opened.append(len(kept))
            kept.append(inside)
            for after in afters:
                if not opened:
                    kept.append(after)
                    continue
                start = opened.pop()
                name = kept[start].partition("|")[0]
                reader = readers[name] if name in readers else self._reader(name)
                words = ""
                if reader is None:
                    pass
                elif reader is _marks_disambiguation:
                    marked = True
                elif reader is _says_what_it_is:
                    infoboxes[_plain(name)] = None
                elif len(opened) < MAX_DEPTH:
                    words = _words(reader, "".join(kept[start:]))
                    n_unread += not words and reader in MEASURES
                del kept[start:]
                if words and reader is fraction and kept[-1][-1:].isdigit():
                    words = " " + words
                if words:
                    kept.append(words)
                if not words and not opened and kept[-1][-1:] in (" ", "\n", "("):
                    join(kept, after)
                elif after:
                    kept.append(after)
        return Dropped("".join(kept), marked, list(infoboxes)[:MAX_INFOBOXES], n_unread)

    def _reader(self, name: str) -> Reader | None:
        if len(self._readers) > MAX_NAMES:
            self._readers.clear()
        plain = _plain(name)
        reader: Reader | None = None
        if is_disambiguation(plain):
            reader = _marks_disambiguation
        elif is_infobox(plain):
            reader = _says_what_it_is
        elif self._phrases:
            reader = reader_of(plain)
        self._readers[name] = reader
        return reader


def _plain(name: str) -> str:
    return " ".join(name.replace("_", " ").lower().split())[:MAX_NAME]


def _words(reader: Reader, content: str) -> str:
    return reader(*arguments_of(content)) if len(content) <= MAX_CHARACTERS else ""


def _marks_disambiguation(arguments: list[str], named: Mapping[str, str]) -> str:
    return ""


def _says_what_it_is(arguments: list[str], named: Mapping[str, str]) -> str:
    return ""
