"""Gives the English names of languages; rows, releases and options have the codes."""

from argparse import ArgumentTypeError

import pycountry
from django.utils.translation import get_language_info


def is_language(code: str) -> bool:
    """Return whether a code is of a language: it begins with an ISO 639 code of 2 or 3 letters."""
    first = code.partition("-")[0]
    known, families = pycountry.languages, pycountry.language_families
    # "simple" is a wiki's own code; some wikis have the code of a language family.
    return code == "simple" or bool(
        known.get(alpha_2=first) or known.get(alpha_3=first) or families.get(alpha_3=first)
    )


def language_argument(text: str) -> str:
    """Return a command's language code in lower case; raises ArgumentTypeError."""
    code = text.strip().lower()
    if code and not is_language(code):
        raise ArgumentTypeError(f"{text!r} is no code of a language, such as en, de or ar.")
    return code


def language_name(code: str) -> str:
    """Return the English name of a language; its code if the name is unknown."""
    try:
        return str(get_language_info(code)["name"])
    except KeyError:
        first = code.partition("-")[0]
        known = pycountry.languages
        found = known.get(alpha_2=first) or known.get(alpha_3=first)
        return str(found.name) if found else code
