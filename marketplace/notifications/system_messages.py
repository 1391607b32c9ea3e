"""Sentences the marketplace writes into its tables in English, and says in the reader's language.

The API answers with them as they are kept; pages and forms for workers show them with `translated`.
"""

import re

from django.utils.translation import gettext, gettext_noop

TIME_WAS_UP = gettext_noop("The time of the test was up.")
WITHDRAWN = gettext_noop("The requester withdrew it. What you wrote is kept among your data.")
TAKEN_OUT = gettext_noop("Taken out of the group by the host.")
GIVEN = gettext_noop("You now have the qualification “%(name)s”")
MEMBERS = gettext_noop("Members of %(name)s.")
HOST = gettext_noop("The host of this marketplace")
PLACE = re.escape("%(name)s")
SHAPES = {
    one: re.compile(re.escape(one).replace(PLACE, "(?P<name>.*)"), re.DOTALL)
    for one in (TIME_WAS_UP, WITHDRAWN, TAKEN_OUT, GIVEN, MEMBERS, HOST)
}


def translated(text: str) -> str:
    """Return one of these sentences in the language of the page, anybody else's as it is."""
    for sentence, shape in SHAPES.items():
        if match := shape.fullmatch(text):
            return gettext(sentence) % match.groupdict()
    return text
