"""Drops templates, but keeps the words of those that only dress words up."""

import re
from collections.abc import Callable
from typing import NamedTuple

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
Reader = Callable[[list[str]], str]


"""Makes words of a template's positional arguments."""

_NAMED = re.compile(r"\s*([\w -]+?)\s*=")
_LANGUAGE = re.compile(r"lang-[a-z-]+")

# Shown as their first argument, their second, their last.
_FIRST = """
nowrap|nobr|nobold|small|smaller|big|larger|em|strong|abbr|tooltip|sic|bdo|bdi|script|sup|sub|mvar
ill|interlanguage link|illm|iw|nihongo|nihongo2|nihongo3|flag|flagu|flagcountry|vanchor|smallcaps|sc
visible anchor|char|code|mono|samp|kbd|var|strikethrough|underline|ipa|unicode|noitalic|normal
formatnum|q
"""
_SECOND = "lang|langx|abbrlink|rtl-lang|smallcaps2"
_LAST = "transl|transliteration|font color|colored text"
# Shown on lines of their own.
_QUOTED = "quote|blockquote|cquote|bq|quotation|rquote"
_PREFIXES = {
    "c. ": "circa|c.",
    "fl. ": "floruit|fl.",
    "As of ": "as of",
    "US$": "us$|usd",
    "£": "gbp|£",
    "€": "eur|€",
    "₹": "inr",
    "USS ": "uss",
    "HMS ": "hms",
    "RMS ": "rms",
    "SS ": "ss",
    "HMAS ": "hmas",
    "HMCS ": "hmcs",
}
_CHARACTERS = {
    " – ": "snd|spnd|spaced ndash|spaced en dash|dash|spndash|sndash",
    " — ": "spaced mdash|spaced em dash|smd",
    "–": "ndash|en dash|nd",
    "—": "mdash|em dash|md",
    " ": "nbsp|space|spaces|thinsp|thin space|hair space|nnbsp",
    " · ": "·|middot|dot",
    " • ": "•|bull|bullet",
    "'": "'|apostrophe",
    "'s": "'s",
    '"': "\"|''",
    "ʻ": "okina|ʻokina",
    "=": "=",
}
_BETWEEN_NUMBERS = {"-": "–", "–": "–", "x": " × ", "to": " to ", "and": " and ", "or": " or "}


def reader_of(name: str) -> Reader | None:
    """Return what makes words of the template called `name` (lower case); None: it has none."""
    return _READERS.get(name) or (_nth(0) if _LANGUAGE.fullmatch(name) else None)


def arguments_of(content: str) -> list[str]:
    """Return the positional arguments of a template's inside, `1=` included; bars in links stay."""
    arguments: list[str] = []
    depth = 0
    for part in content.split("|")[1:]:
        if depth > 0:
            arguments[-1] += "|" + part
        else:
            arguments.append(part)
        depth += part.count("[[") - part.count("]]")
    return [value for value in map(_positional, arguments) if value is not None]


def _positional(argument: str) -> str | None:
    named = _NAMED.match(argument) if "=" in argument else None
    if not named:
        return argument
    return argument[named.end() :] if named[1].isdigit() else None


def _nth(n: int) -> Reader:
    return lambda arguments: arguments[n] if n < len(arguments) else ""


def _last(arguments: list[str]) -> str:
    return arguments[-1] if arguments else ""


def _quoted(arguments: list[str]) -> str:
    return f"\n{arguments[0]}\n" if arguments else ""


def _prefixed(prefix: str) -> Reader:
    return lambda arguments: f"{prefix}{arguments[0]}" if arguments else ""


def _constant(text: str) -> Reader:
    return lambda arguments: text


def _fraction(arguments: list[str]) -> str:
    """{{frac|2|1|3}} → 2 1/3."""
    if len(arguments) == 3:
        return f"{arguments[0]} {arguments[1]}/{arguments[2]}"
    return "/".join(arguments) if len(arguments) == 2 else ""


def _converted(arguments: list[str]) -> str:
    """Return the measure as written, without its conversion: {{convert|5|km|mi}} → 5 km."""
    words = [word.strip() for word in arguments]
    if len(words) >= 4 and words[1] in _BETWEEN_NUMBERS:
        return f"{words[0]}{_BETWEEN_NUMBERS[words[1]]}{words[2]} {words[3]}"
    return " ".join(words[:2]) if len(words) >= 2 else ""


def _readers() -> dict[str, Reader]:
    groups: list[tuple[str, Reader]] = [
        (_FIRST.strip().replace("\n", "|"), _nth(0)),
        (_SECOND, _nth(1)),
        (_LAST, _last),
        (_QUOTED, _quoted),
        ("convert|cvt", _converted),
        ("frac|fraction|sfrac", _fraction),
    ]
    groups += [(names, _prefixed(prefix)) for prefix, names in _PREFIXES.items()]
    groups += [(names, _constant(character)) for character, names in _CHARACTERS.items()]
    return {name: reader for names, reader in groups for name in names.split("|")}


_READERS = _readers()


class Dropped(NamedTuple):
    """Text without its templates, and what those said of the page.

    infoboxes: their names in order, each once, in lower case.
    """

    text: str
    is_disambiguation: bool
    infoboxes: list[str]


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
                del kept[start:]
                if words:
                    kept.append(words)
                if not words and not opened and kept[-1][-1:] in (" ", "\n", "("):
                    join(kept, after)
                elif after:
                    kept.append(after)
        return Dropped("".join(kept), marked, list(infoboxes)[:MAX_INFOBOXES])

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
    return reader(arguments_of(content)) if len(content) <= MAX_CHARACTERS else ""


def _marks_disambiguation(arguments: list[str]) -> str:
    return ""


def _says_what_it_is(arguments: list[str]) -> str:
    return ""
