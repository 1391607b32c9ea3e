"""Drops templates, keeps the words of those that only dress words up."""

import re
from collections.abc import Callable

# MediaWiki expands no template deeper than this.
MAX_DEPTH = 40
# A template that dresses up more text than this is a layout, not a phrase.
MAX_ARGUMENT = 5000

Readable = Callable[[list[str]], str]

_BAR = re.compile(r"\|(?![^\[\]]*\]\])")
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


def is_readable(name: str) -> bool:
    """Return whether the template of that name is kept as words."""
    return _reader(name) is not None


def _reader(name: str) -> Readable | None:
    name = name.replace("_", " ").strip().lower()
    return READABLE.get(name) or (_nth(0) if _LANGUAGE.fullmatch(name) else None)


class Templates:
    """Drops the templates of pages and says which stood there; remembers their names."""

    def __init__(self) -> None:
        self._readers: dict[str, Readable | None] = {}

    def drop(self, text: str) -> tuple[str, list[str]]:
        """Return `text` without templates, and the names of those not inside another, as written.

        An opening without an end loses its braces only; the time is linear in any nesting.
        """
        first, *parts = text.split("{{")
        kept, opened, outer = [first], [], []
        for part in parts:
            opened.append(len(kept))
            inside, *afters = part.split("}}")
            kept.append(inside)
            for after in afters:
                if opened:
                    start = opened.pop()
                    if not opened:
                        outer.append(kept[start].partition("|")[0])
                    self._close(kept, start, len(opened), after)
                    if not opened:
                        after = _joined(kept, after)
                if after:
                    kept.append(after)
        return "".join(kept), outer

    def _close(self, kept: list[str], start: int, depth: int, after: str) -> None:
        """Replace the pieces from `start`, one template, by its words or by nothing."""
        name = kept[start].partition("|")[0]
        try:
            reader = self._readers[name]
        except KeyError:
            if len(self._readers) > 50_000:
                self._readers.clear()
            reader = self._readers[name] = _reader(name)
        if reader is None or depth > MAX_DEPTH:
            del kept[start:]
            return
        content = "".join(kept[start:])
        del kept[start:]
        if len(content) <= MAX_ARGUMENT and (words := reader(arguments_of(content))):
            kept.append(words)


def arguments_of(content: str) -> list[str]:
    """Return the positional arguments of a template's inside, `1=` included."""
    arguments = []
    for argument in (_BAR.split(content) if "[[" in content else content.split("|"))[1:]:
        named = _NAMED.match(argument) if "=" in argument else None
        if not named:
            arguments.append(argument)
        elif named[1].isdigit():
            arguments.append(argument[named.end() :])
    return arguments


def _joined(kept: list[str], after: str) -> str:
    """Mend the blanks around what was dropped at the end of `kept`; return what follows it."""
    before = kept[-1] if kept else ""
    if before.endswith(" ") and after[:1] in (" ", ",", ".", ";", ")", "\n"):
        kept[-1] = before[:-1]
    elif before.endswith("\n") and after.startswith(" "):
        # Otherwise the line would begin with a blank, which means preformatted text.
        return after.lstrip(" ")
    return after
