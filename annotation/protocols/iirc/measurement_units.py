"""Whether two annotators mean the same unit, however they wrote it (ours; IIRC 4.1 ignores units).

The short forms are those of English in Unicode's CLDR (common/main/en.xml, units, lengths "long",
"short" and "narrow"); British spellings are those of its en_001.
"""

from functools import lru_cache

from annotation.metrics.token_overlap import answer_tokens

# What stands for the whole unit; signs come before punctuation is dropped.
WHOLE = {
    "%": "percent",
    "per cent": "percent",
    "°": "degree",
    "°c": "degree celsius",
    "°f": "degree fahrenheit",
    "percentage": "percent",
    "$": "dollar",
    "us$": "dollar",
    "usd": "dollar",
    "us dollar": "dollar",
    "us dollars": "dollar",
    "u.s. dollar": "dollar",
    "u.s. dollars": "dollar",
    "£": "pound",
    "€": "euro",
    "km/h": "kilometer per hour",
    "kph": "kilometer per hour",
    "mph": "mile per hour",
    "mi/h": "mile per hour",
    "m/s": "meter per second",
    "years old": "year",
    "year old": "year",
    "years of age": "year",
}
# What stands for one word of a unit, its plural taken off.
WORDS = {
    "centimetre": "centimeter",
    "cm": "centimeter",
    "kilometre": "kilometer",
    "km": "kilometer",
    "m": "meter",
    "metre": "meter",
    "mi": "mile",
    "millimetre": "millimeter",
    "mm": "millimeter",
    "feet": "foot",
    "ft": "foot",
    "in": "inch",
    "yd": "yard",
    "ac": "acre",
    "ha": "hectare",
    "sq": "square",
    "g": "gram",
    "kg": "kilogram",
    "mg": "milligram",
    "lb": "pound",
    "oz": "ounce",
    "tonne": "ton",
    "l": "liter",
    "litre": "liter",
    "gal": "gallon",
    "h": "hour",
    "hr": "hour",
    "min": "minute",
    "sec": "second",
    "mo": "month",
    "mth": "month",
    "wk": "week",
    "yr": "year",
    "people": "person",
    "men": "man",
    "women": "woman",
    "children": "child",
}
POWERS = {"²": "square ", "2": "square ", "³": "cubic ", "3": "cubic "}
# Words that end in an s of their own, or whose plural adds more than an s.
NO_PLURAL = ("ss", "us", "is")
ADDS_ES = ("ches", "shes", "sses", "xes", "zes")


def same_unit(one: str, other: str) -> bool:
    """Return whether the units are one; one that is left blank agrees with every other."""
    left, right = normalised(one), normalised(other)
    return not left or not right or left == right


@lru_cache(maxsize=4096)
def normalised(unit: str) -> str:
    """Return the unit written out, each word in the singular; blank for none."""
    text = " ".join(unit.lower().replace("-", " ").split())
    if text in WHOLE:
        return WHOLE[text]
    if text[-1:] in POWERS and text[:-1].rstrip("^") in WORDS:
        text = POWERS[text[-1]] + text[:-1].rstrip("^")
    return " ".join(_word(word) for word in answer_tokens(text))


def _word(word: str) -> str:
    one = _singular(word)
    return WORDS.get(word) or WORDS.get(one, one)


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(ADDS_ES):
        return word[:-2]
    # Two letters are a sign: "ms" is no plural of "m".
    if len(word) > 2 and word.endswith("s") and not word.endswith(NO_PLURAL):
        return word[:-1]
    return word
