"""Names languages for people; rows, releases and options have their codes."""

import pycountry
from django.utils.translation import get_language_info


def language_name(code: str) -> str:
    """Return the English name of a language, its code where nobody knows a name."""
    try:
        return str(get_language_info(code)["name"])
    except KeyError:
        first = code.partition("-")[0]
        known = pycountry.languages
        found = known.get(alpha_2=first) or known.get(alpha_3=first)
        return str(found.name) if found else code
