"""Drops templates, but keeps the words that they only format and the numbers that they show."""

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from collector.ingest.elements import join
from collector.ingest.raised import lowered, raised
from collector.ingest.titles import is_disambiguation, is_infobox

Reader = Callable[[list[str], Mapping[str, str]], str]
"""Takes a template's positional and its named arguments."""

_BETWEEN = {
    **dict.fromkeys(("-", "–", "&ndash;", "to(-)"), "–"),
    **dict.fromkeys(("x", "xx", "×", "*"), " × "),
    **dict.fromkeys(("+/-", "±"), " ± "),
    **{word: f" {word} " for word in ("to", "and", "or", "by", "to about")},
}
_NUMBER = re.compile(r"[+\-−]?[\d.,]*\d(?:e[+\-−]?\d+)?(?:[+ ]?\d+//?\d+)?|[+\-−]?\d+//?\d+")
_POWER_IN_NUMBER = re.compile(r"e([+\-−]?\d+)$")
_MIXED = re.compile(r"(?<=\d)\+(?=\d+/)")
# m2, kg-1; not cmH2O.
_POWER_OF_UNIT = re.compile(r"(?<=[^\W\d_])([-−]?\d+)(?![^\W_])")
_THOUSANDS = re.compile(r"e(\d+)(?=\w)")
_CHARGE = re.compile(r"\d*[+\-−]")
_CHARGE_AT_END = re.compile(r"\((\d*[+\-−])\)|(?<=\w)([+\-−])$")
_COUNT = re.compile(r"(?<=[^\W\d_)\]])\d+")


def fraction(arguments: list[str], named: Mapping[str, str]) -> str:
    """{{frac|2|1|3}} → 2 1/3, {{frac|3}} → 1/3."""
    if len(arguments) == 3:
        return f"{arguments[0]} {arguments[1]}/{arguments[2]}"
    return "/".join(["1", *arguments][-2:]) if arguments else ""


def _converted(arguments: list[str], named: Mapping[str, str]) -> str:
    """Return the measure as written, without its conversion: {{convert|6|ft|2|in|cm}} → 6 ft 2 in.

    Blank if it does not begin with a number.
    """
    words = [word.strip() for word in arguments]
    shown, at = "", 0
    while _NUMBER.fullmatch("".join(words[at : at + 1])):
        number, n_words = _ranged(words[at:])
        at += n_words
        unit = words[at] if at < len(words) else ""
        # After the first measure, a number without a unit is the precision of the conversion.
        if unit and not (shown and _NUMBER.fullmatch(unit)):
            shown += f" {number} {_unit(unit)}"
        at += 1
    return shown.strip().replace(" ×10", "×10")


def _ranged(words: list[str]) -> tuple[str, int]:
    """Return the number or range at the start of `words`, and how many words it takes."""
    shown, at = _number(words[0]), 1
    while len(words) > at + 1 and words[at] in _BETWEEN:
        shown += _BETWEEN[words[at]] + _number(words[at + 1])
        at += 2
    return shown, at


def _number(written: str) -> str:
    plain = _MIXED.sub(" ", written.replace("//", "/"))
    return _POWER_IN_NUMBER.sub(lambda found: f"×10{raised(found[1])}", plain)


def _unit(written: str) -> str:
    unit = _THOUSANDS.sub(lambda found: f"×10{raised(found[1])} ", written, count=1)
    return _POWER_OF_UNIT.sub(lambda found: raised(found[1]), unit)


def _value(arguments: list[str], named: Mapping[str, str]) -> str:
    """{{val|6.67|0.01|e=-11|u=m3.kg-1}} → 6.67±0.01×10⁻¹¹ m³⋅kg⁻¹, {{val|10|-|20}} → 10–20."""
    words = [word.strip() for word in arguments if word.strip()]
    if not words:
        return ""
    number, n_words = _ranged(words)
    shown, errors = named.get("p", "") + number, words[n_words:]
    if len(errors) > 1:
        shown += f"+{errors[0].lstrip('+')}−{errors[1].lstrip('-−')}"
    elif errors:
        shown += errors[0] if errors[0].startswith("(") else f"±{errors[0]}"
    shown += f"×10{raised(named['e'])}" if named.get("e") else ""
    unit = _unit(named.get("ul") or named.get("u") or "").replace(".", "⋅")
    per = _unit(named.get("upl") or named.get("up") or "").replace(".", "⋅")
    gap = "" if unit in ("", "%", "°", "′", "″") else " "
    return shown + named.get("s", "") + gap + unit + (f"/{per}" if per else "")


def _chemical(arguments: list[str], named: Mapping[str, str]) -> str:
    """{{chem|SO|4|2-}} → SO₄²⁻, {{chem|211|85|At}} → ²¹¹₈₅At."""
    shown = ""
    for word in map(str.strip, arguments):
        if _CHARGE.fullmatch(word) or (word.isdigit() and not shown):
            shown += raised(word)
        else:
            shown += lowered(word) if word.isdigit() else word
    return shown


def _formula_of_elements(arguments: list[str], named: Mapping[str, str]) -> str:
    """{{chem2|SO4(2-)}} → SO₄²⁻."""
    if not arguments:
        return ""
    charged = _CHARGE_AT_END.sub(lambda found: raised(found[1] or found[2]), arguments[0].strip())
    return _COUNT.sub(lambda found: lowered(found[0]), charged)


def _root(arguments: list[str], named: Mapping[str, str]) -> str:
    if not arguments:
        return ""
    inside = arguments[0].strip()
    degree = raised(arguments[1]) if len(arguments) > 1 else ""
    return f"{degree}√{inside if inside.isalnum() else f'({inside})'}"


def _height(arguments: list[str], named: Mapping[str, str]) -> str:
    """{{height|ft=6|in=1}} → 6 ft 1 in."""
    return " ".join(f"{named[unit]} {unit}" for unit in ("m", "cm", "ft", "in") if named.get(unit))


def _ordinal(arguments: list[str], named: Mapping[str, str]) -> str:
    number = "".join(arguments[:1]).strip()
    ending = "th" if number[-2:-1] == "1" else _ENDINGS.get(number[-1:], "th")
    return f"{number}{ending}" if number.isdigit() else ""


def _verse(arguments: list[str], named: Mapping[str, str]) -> str:
    """{{bibleverse|2|Chronicles|29:25–27|KJV}} → 2 Chronicles 29:25–27."""
    words = [word.strip() for word in arguments[:3]]
    return " ".join(word for at, word in enumerate(words) if word and (at < 2 or ":" in word))


def _ship(arguments: list[str], named: Mapping[str, str]) -> str:
    """{{ship|Finnish ship|Pohjanmaa||2}} → Finnish ship Pohjanmaa; 6 asks for the name alone."""
    words = [word.strip() for word in arguments]
    return " ".join(filter(None, words[1:2] if words[3:4] == ["6"] else words[:2]))


def _unknown(arguments: list[str], named: Mapping[str, str]) -> str:
    """Return nothing: the wiki computes the figure from tables or from the current date."""
    return ""


_ENDINGS = {"1": "st", "2": "nd", "3": "rd"}
_ACCIDENTALS = {"sharp": "♯", "#": "♯", "flat": "♭", "b": "♭", "natural": "♮"}
_READERS_OF: dict[str, Reader] = {
    "convert|cvt": _converted,
    "frac|fraction|sfrac": fraction,
    "val": _value,
    "chem": _chemical,
    "chem2": _formula_of_elements,
    "nuclide|nuclide2|simplenuclide|simplenuclide2": lambda words, named: "-".join(words[:2]),
    "math|bigmath": lambda words, named: "".join(words[:1]),
    "thinspace": lambda words, named: " ".join(map(str.strip, words)),
    "gaps": lambda words, named: "".join(map(str.strip, words)),
    "sup": lambda words, named: raised("".join(words[:1])),
    "sub": lambda words, named: lowered("".join(words[:1])),
    "su": lambda words, named: raised(named.get("p", "")) + lowered(named.get("b", "")),
    "e|exp|x10^": lambda words, named: "×10" + raised("".join(words[:1])) if words else "",
    "10^": lambda words, named: "10" + raised("".join(words[:1])) if words else "",
    "sqrt|radic": _root,
    "pi": lambda words, named: "π",
    "times": lambda words, named: "×",
    "minus": lambda words, named: "−",
    "height": _height,
    "ordinal": _ordinal,
    "music": lambda words, named: _ACCIDENTALS.get("".join(words[:1]).strip(), ""),
    "bibleverse|bibleref|bibleref2": _verse,
    "bibleverse-nb": lambda words, named: " ".join(word for word in words[:3] if ":" in word),
    "ship": _ship,
    "sclass|sclass-|sclass2|sclass2-": lambda words, named: "-class ".join(words[:2]),
    "oldstyledate": lambda words, named: " ".join(word.strip() for word in words[:2]),
    "inflation|age|format price|currentyear|inflation-year|percentage|percent": _unknown,
}
OF_NUMBERS = {name: reader for names, reader in _READERS_OF.items() for name in names.split("|")}
# If one of these returns no words, a measure is left out of the text.
MEASURES = frozenset({_converted, _value, _height, _ordinal, _unknown})


# MediaWiki expands no template deeper than this.
MAX_DEPTH = 40
# A template around more text than this is a layout, not a phrase.
MAX_CHARACTERS = 5000
# The most names in the cache of readers.
MAX_NAMES = 50_000
# More infoboxes than any article has; a name may be as long as a title.
MAX_INFOBOXES = 50
MAX_NAME = 255
# In text with wide characters, a pattern splits in half the time of `str.split`.
_OPENING = re.compile(r"\{\{")
_NAMED = re.compile(r"\s*([\w -]+?)\s*=")
# Templates named after the language or the script of their first argument.
_LANGUAGE = re.compile(r"lang-[a-z-]+|script/.+")
# {{formatnum:12000}} has its number in its name.
_FORMATTED = re.compile(r"formatnum ?: ?([\d.,]+)")

# Templates that show only their first argument, their second, or their last.
_FIRST = """
nowrap|nobr|nobold|small|smaller|big|larger|em|strong|abbr|tooltip|sic|bdo|bdi|mvar
ill|interlanguage link|illm|iw|nihongo|nihongo2|nihongo3|flag|flagu|flagcountry|vanchor|smallcaps|sc
visible anchor|char|code|mono|samp|kbd|var|strikethrough|underline|ipa|unicode|noitalic|normal
formatnum|q|nts|interlanguage link multi|vr|iast|proper name|not a typo|center
"""
_SECOND = "script|lang|langx|abbrlink|rtl-lang|smallcaps2|audio"
_LAST = "transl|transliteration|font color|colored text"
# Templates that show their first argument on a line of its own.
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
    """Return the function that renders the template `name` (lower case); None if it is dropped."""
    if number := _FORMATTED.fullmatch(name):
        return _constant(number[1])
    return _READERS.get(name) or (_nth(0) if _LANGUAGE.fullmatch(name) else None)


def arguments_of(content: str) -> tuple[list[str], dict[str, str]]:
    """Return the positional arguments of a template's content, `1=` included, and the named ones.

    A bar inside a link does not separate arguments.
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
    """Text without its templates, and what they said about the page.

    infoboxes: their names in order, each once, in lower case. n_unread: how many numbers and
    measures could not be read.
    """

    text: str
    is_disambiguation: bool
    infoboxes: list[str]
    n_unread: int


class Templates:
    """Drops the templates of pages; caches the reader of each name."""

    def __init__(self, *, phrases: bool = True) -> None:
        """Create one per process; without `phrases` no template leaves any words."""
        self._phrases = phrases
        self._readers: dict[str, Reader | None] = {}

    def drop(self, text: str) -> Dropped:
        """Return `text` without templates, whether it is a disambiguation page, and its infoboxes.

        An opening without an end loses only its braces. The time is linear for any nesting.
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
