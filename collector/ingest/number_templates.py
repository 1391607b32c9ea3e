"""Makes words of the templates that write numbers, measures, formulas and other figures."""

import re
from collections.abc import Callable, Mapping

from collector.ingest.raised import lowered, raised

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

    Blank where it begins with no number.
    """
    words = [word.strip() for word in arguments]
    shown, at = "", 0
    while _NUMBER.fullmatch("".join(words[at : at + 1])):
        number, n_words = _ranged(words[at:])
        at += n_words
        unit = words[at] if at < len(words) else ""
        # A number without a unit after the first is how many places the conversion has.
        if unit and not (shown and _NUMBER.fullmatch(unit)):
            shown += f" {number} {_unit(unit)}"
        at += 1
    return shown.strip().replace(" ×10", "×10")


def _ranged(words: list[str]) -> tuple[str, int]:
    """Return the number or the range that words begin with, and how many words it is."""
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
    """Return nothing: the figure is reckoned from tables, or from the day on which it is read."""
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
READERS = {name: reader for names, reader in _READERS_OF.items() for name in names.split("|")}
# Where one of these gives no words, a measure is left out.
MEASURES = frozenset({_converted, _value, _height, _ordinal, _unknown})
