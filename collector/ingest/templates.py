"""Drops templates, keeps the words of those that only dress words up."""

import re
from collections.abc import Callable

from collector.ingest.joints import join
from collector.ingest.names import is_disambiguation

# MediaWiki expands no template deeper than this.
MAX_DEPTH = 40
# A template that dresses up more text than this is a layout, not a phrase.
MAX_ARGUMENT = 5000

# Names remembered at most.
MAX_NAMES = 50_000

Readable = Callable[[list[str]], str]

_NAMED = re.compile(r"\s*([\w -]+?)\s*=")
_LANGUAGE = re.compile(r"lang-[a-z-]+")
_CURRENCIES = {"us$": "US$", "usd": "US$", "gbp": "£", "£": "£", "eur": "€", "€": "€", "inr": "₹"}
_JOINING = {
    "-": "–",
    "–": "–",
    "to": " to ",
    "and": " and ",
    "or": " or ",
    "x": " × ",
    "by": " by ",
}

_SHOWS_FIRST = """\
nowrap|nobr|nobold|small|smaller|big|larger|em|strong|abbr|tooltip|sic|bdo|bdi|script|sup|sub|mvar
ill|interlanguage link|illm|iw|nihongo|nihongo2|nihongo3|flag|flagu|flagcountry|vanchor
visible anchor|char|code|mono|samp|kbd|var|strikethrough|underline|ipa|unicode|noitalic|normal
formatnum|q"""


def _nth(n: int) -> Readable:
    return lambda arguments: arguments[n] if n < len(arguments) else ""


def _constant(text: str) -> Readable:
    return lambda arguments: text


def _last(arguments: list[str]) -> str:
    return arguments[-1] if arguments else ""


def _prefixed(prefix: str) -> Readable:
    return lambda arguments: f"{prefix}{arguments[0]}" if arguments else ""


def _quoted(arguments: list[str]) -> str:
    return f"\n{arguments[0]}\n" if arguments else ""


def _ship(prefix: str) -> Readable:
    return lambda arguments: f"{prefix} {arguments[0]}" if arguments else ""


def _fraction(arguments: list[str]) -> str:
    if len(arguments) == 3:
        return f"{arguments[0]} {arguments[1]}/{arguments[2]}"
    return "/".join(arguments) if len(arguments) == 2 else ""


def _converted(arguments: list[str]) -> str:
    """Return the measure as written, without its conversion: {{convert|5|km|mi}} → 5 km."""
    words = [word.strip() for word in arguments]
    if len(words) >= 4 and words[1] in _JOINING:
        return f"{words[0]}{_JOINING[words[1]]}{words[2]} {words[3]}"
    return " ".join(words[:2]) if len(words) >= 2 else ""


def _table() -> dict[str, Readable]:
    table = dict.fromkeys(_SHOWS_FIRST.replace("\n", "|").split("|"), _nth(0))
    table.update(dict.fromkeys(["lang", "langx", "abbrlink", "rtl-lang", "smallcaps2"], _nth(1)))
    table.update(dict.fromkeys(["transl", "transliteration", "font color", "colored text"], _last))
    quotes = ["quote", "blockquote", "cquote", "bq", "quotation", "rquote"]
    table.update(dict.fromkeys(quotes, _quoted))
    table.update(dict.fromkeys(["convert", "cvt"], _converted))
    table.update(dict.fromkeys(["frac", "fraction", "sfrac"], _fraction))
    table.update(dict.fromkeys(["circa", "c."], _prefixed("c. ")))
    table.update({"floruit": _prefixed("fl. "), "fl.": _prefixed("fl. ")})
    table.update({"as of": _prefixed("As of "), "smallcaps": _nth(0), "sc": _nth(0)})
    table.update({name: _prefixed(sign) for name, sign in _CURRENCIES.items()})
    table.update(
        {name.lower(): _ship(name) for name in ["USS", "HMS", "RMS", "SS", "HMAS", "HMCS"]}
    )
    characters = {
        " – ": ["snd", "spnd", "spaced ndash", "spaced en dash", "dash", "spndash", "sndash"],
        " — ": ["spaced mdash", "spaced em dash", "smd"],
        "–": ["ndash", "en dash", "nd"],
        "—": ["mdash", "em dash", "md"],
        " ": ["nbsp", "space", "spaces", "thinsp", "thin space", "hair space", "nnbsp", "0ws"],
        " · ": ["·", "middot", "dot"],
        " • ": ["•", "bull", "bullet"],
        "'": ["'", "apostrophe"],
        "'s": ["'s"],
        '"': ['"', "''"],
        "ʻ": ["okina", "ʻokina"],
        "=": ["="],
    }
    for character, aliases in characters.items():
        table.update(dict.fromkeys(aliases, _constant(character)))
    return table


READABLE = _table()


def reader_of(name: str) -> Readable | None:
    """Return what turns the arguments of the template `name` into words; None: it is dropped."""
    name = name.replace("_", " ").strip().lower()
    if is_disambiguation(name):
        return _marks_disambiguation
    return READABLE.get(name) or (_nth(0) if _LANGUAGE.fullmatch(name) else None)


def _marks_disambiguation(arguments: list[str]) -> str:
    return ""


class Templates:
    """Drops the templates of pages; remembers their names."""

    def __init__(self) -> None:
        self._readers: dict[str, Readable | None] = {}

    def drop(self, text: str) -> tuple[str, bool]:
        """Return `text` without templates, and whether one marks it as a list of meanings.

        An opening without an end loses its braces only; the time is linear in any nesting.
        """
        first, *parts = text.split("{{")
        kept: list[str] = [first]
        opened: list[int] = []
        marked = False
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
                if reader is _marks_disambiguation:
                    marked = True
                elif reader is not None and len(opened) < MAX_DEPTH:
                    words = _words(reader, "".join(kept[start:]))
                del kept[start:]
                if words:
                    kept.append(words)
                if not words and not opened and kept[-1][-1:] in (" ", "\n", "("):
                    join(kept, after)
                elif after:
                    kept.append(after)
        return "".join(kept), marked

    def _reader(self, name: str) -> Readable | None:
        if len(self._readers) > MAX_NAMES:
            self._readers.clear()
        reader = self._readers[name] = reader_of(name)
        return reader


def _words(reader: Readable, content: str) -> str:
    return reader(arguments_of(content)) if len(content) <= MAX_ARGUMENT else ""


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
