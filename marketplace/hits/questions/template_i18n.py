"""The marketplace's own words inside a requester's page, said in the language of who works on it.

A page is kept in English, as it was published; what is ours in it is marked, and put into the
worker's language each time it is shown.
"""

import json
import re
from html import escape

from django.utils.translation import get_language, gettext, gettext_noop

ON_PAGES = {
    gettext_noop("Answer a survey"),
    gettext_noop("Open the survey in a new tab."),
    gettext_noop("Keep this one open."),
    gettext_noop("At its end you get a completion code."),
    gettext_noop("Write the code here and submit."),
    gettext_noop("Completion code"),
    gettext_noop("Submit"),
}
# What crowd.js and html_question.js say.
IN_SCRIPTS = {
    gettext_noop("Submit"),
    gettext_noop("Instructions"),
    gettext_noop("Summary"),
    gettext_noop("Good example"),
    gettext_noop("Bad example"),
    gettext_noop("Accept the HIT to work on it."),
    gettext_noop("Close"),
    gettext_noop("Dismiss"),
    gettext_noop("Choose at least one."),
    gettext_noop("Image"),
    gettext_noop("Label"),
    gettext_noop("Text"),
    gettext_noop("Remove"),
    gettext_noop("There is nothing to mark."),
    gettext_noop("Mark something, or tick that there is nothing to mark."),
    gettext_noop(
        "Choose a label, then mark the words it applies to: with the pointer, or with the arrow "
        "keys, Shift for several, and Enter."
    ),
    gettext_noop(
        "Choose a label, then drag a box over the image, or add one and write its numbers."
    ),
    gettext_noop(
        "Choose a label, then click the image where it belongs, or add a point and write its "
        "numbers."
    ),
    gettext_noop(
        "Choose a label, then click the corners one after the other and finish the shape, or add "
        "one and write its numbers."
    ),
    gettext_noop("Add a box"),
    gettext_noop("Add a point"),
    gettext_noop("Add a shape"),
    gettext_noop("Add a corner"),
    gettext_noop("Finish the shape"),
    gettext_noop("A shape needs more corners."),
    gettext_noop("Left"),
    gettext_noop("Top"),
    gettext_noop("Width"),
    gettext_noop("Height"),
    gettext_noop("This part of the page cannot be drawn. Return the HIT and tell its requester."),
}
MARKED = re.compile("<span data-ours>([^<]*)</span>")


def marked(words: str) -> str:
    """Return words of ON_PAGES as HTML that `in_language` knows again."""
    return f"<span data-ours>{words}</span>"


def in_language(html: str) -> str:
    """Return a page with our own words in the language that is active now."""
    return MARKED.sub(_translated, html)


def for_scripts() -> str:
    """Return what the scripts say as JSON, from English to the language that is active now."""
    return json.dumps({words: gettext(words) for words in sorted(IN_SCRIPTS)})


def _translated(found: re.Match[str]) -> str:
    if found[1] not in ON_PAGES:
        return found[0]
    return f'<span lang="{get_language()}">{escape(gettext(found[1]))}</span>'
