"""Names languages for people; rows, releases and options have their codes."""

from argparse import ArgumentTypeError

import pycountry
from django.utils.translation import get_language_info


def is_language(code: str) -> bool:
    """Return whether a code is a language's: ISO 639 in two or three letters, whatever follows."""
    first = code.partition("-")[0]
    known, families = pycountry.languages, pycountry.language_families
    # Simple English is a wiki's own code; some wikis are called after a family of languages.
    return code == "simple" or bool(
        known.get(alpha_2=first) or known.get(alpha_3=first) or families.get(alpha_3=first)
    )


def language_argument(text: str) -> str:
    """Return a code that a command is given, in small letters; raises ArgumentTypeError."""
    code = text.strip().lower()
    if code and not is_language(code):
        raise ArgumentTypeError(f"{text!r} is no code of a language, such as en, de or ar.")
    return code


def language_name(code: str) -> str:
    """Return the English name of a language, its code where nobody knows a name."""
    try:
        return str(get_language_info(code)["name"])
    except KeyError:
        first = code.partition("-")[0]
        known = pycountry.languages
        found = known.get(alpha_2=first) or known.get(alpha_3=first)
        return str(found.name) if found else code
