"""A number and its unit."""

import re
import unicodedata

from tasks.work.widgets import text
from tasks.work.widgets.problems import Problem

MOST_DIGITS = 30
NUMBER = re.compile(r"[+-]?(\d{1,3}(,\d{3})+|\d+)?(\.\d+)?")
SPACES = re.compile(r"(?<=\d)[\s\u202f\u2009](?=\d{3}(\D|$))")
REQUEST = "Write the number in digits, for example 1250 or 12.5, and words in the unit."


def clean(raw_value: object, raw_unit: object) -> tuple[dict[str, str], list[Problem]]:
    """Return {"value": plain ASCII digits with an optional sign and point, "unit": words}.

    Digits of any script are read, and commas or spaces between thousands; a comma is never a
    decimal point, because 1,250 would then mean two things. What is no number comes back as it
    was written, beside its problem; nothing written is "".
    """
    unit, problems = text.clean(raw_unit, field="unit", name="unit", most_characters=60)
    words, found = text.clean(raw_value, field="value", name="number", most_characters=60)
    value = _plain(words)
    if words and not found and value is None:
        found = [Problem(REQUEST, field="value")]
    return {"value": words if value is None else value, "unit": unit}, found + problems


def _plain(words: str) -> str | None:
    """Return the number in plain digits, or None when it is none."""
    if len(words) > 2 * MOST_DIGITS:
        return None
    digits = "".join(
        str(unicodedata.decimal(character)) if character.isdecimal() else character
        for character in words.strip().replace("\u2212", "-").replace("\u066b", ".")
    )
    digits = SPACES.sub("", digits)
    if not any(character.isdigit() for character in digits) or not NUMBER.fullmatch(digits):
        return None
    sign = "-" if digits[0] == "-" else ""
    whole, point, fraction = digits.lstrip("+-").replace(",", "").partition(".")
    if len(whole) + len(fraction) > MOST_DIGITS:
        return None
    return f"{sign}{whole.lstrip('0') or '0'}{point}{fraction}"
