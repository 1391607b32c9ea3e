"""Countries and their parts, as people write them: ISO 3166 codes."""

import re
from functools import cache

import pycountry

# Two letters or digits, as the service's model has them; others are told by their shape alone.
SUBDIVISION = re.compile(r"[A-Z0-9]{2}")
# Kosovo's code is in use though not of the standard.
IN_USE = frozenset({"XK"})


@cache
def _countries() -> frozenset[str]:
    return IN_USE | {country.alpha_2 for country in pycountry.countries}


@cache
def _of_the_us() -> frozenset[str]:
    found = pycountry.subdivisions.get(country_code="US")
    return frozenset(state.code.removeprefix("US-") for state in found)


def is_country(code: str) -> bool:
    """Tell whether this is a country's two letters, upper case."""
    return code in _countries()


def is_subdivision(country: str, code: str) -> bool:
    """Tell whether a part of this country can have this code, as CA has in US-CA."""
    if country == "US":
        return code in _of_the_us()
    return bool(country) and SUBDIVISION.fullmatch(code) is not None
