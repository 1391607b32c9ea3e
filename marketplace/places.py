"""Countries and their parts, as people write them: ISO 3166 codes."""

import re

# Two letters or digits, as the service's model has them; others are told by their shape alone.
SUBDIVISION = re.compile(r"[A-Z0-9]{2}")
OF_THE_US = frozenset(
    "AK AL AR AS AZ CA CO CT DC DE FL GA GU HI IA ID IL IN KS KY LA MA MD ME MI MN MO MP MS MT NC "
    "ND NE NH NJ NM NV NY OH OK OR PA PR RI SC SD TN TX UM UT VA VI VT WA WI WV WY".split()
)


def is_country(code: str) -> bool:
    """Tell whether this can be a country's two letters, upper case."""
    return re.fullmatch("[A-Z]{2}", code) is not None


def is_subdivision(country: str, code: str) -> bool:
    """Tell whether a part of this country can have this code, as CA has in US-CA."""
    if country == "US":
        return code in OF_THE_US
    return bool(country) and SUBDIVISION.fullmatch(code) is not None
