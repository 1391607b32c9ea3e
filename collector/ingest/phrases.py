"""Templates that only dress words up: what they show as plain text."""

import re
from collections.abc import Callable

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
