"""A requester's HTML template: what of it is drawn here, a row's values, our own words in it.

A page is kept in English, as it was published; what is ours in it is marked, and put into the
worker's language each time it is shown.
"""

import json
import re
from collections.abc import Mapping
from html import escape
from typing import Any

from django.utils.translation import get_language, gettext, gettext_noop

from common.markup import HTMLParser

SCRIPT = "crowd-html-elements.js"
# Whole tasks; without a name of their own they hand in under the element's.
TOOLS = frozenset(
    {
        "crowd-bounding-box",
        "crowd-classifier",
        "crowd-classifier-multi-select",
        "crowd-entity-annotation",
        "crowd-image-classifier",
        "crowd-image-classifier-multi-select",
        "crowd-keypoint",
        "crowd-polygon",
        "crowd-polyline",
    }
)
# These hand their value in under their name.
FIELDS = TOOLS | {
    "crowd-checkbox",
    "crowd-input",
    "crowd-radio-button",
    "crowd-radio-group",
    "crowd-slider",
    "crowd-text-area",
    "crowd-toggle-button",
}
DRAWN = FIELDS | {
    "crowd-alert",
    "crowd-badge",
    "crowd-button",
    "crowd-card",
    "crowd-fab",
    "crowd-form",
    "crowd-icon-button",
    "crowd-instructions",
    "crowd-modal",
    "crowd-tab",
    "crowd-tabs",
    "crowd-toast",
}


# A form of these elements sends texts alone.
FILE_FIELD = 'input type="file"'


def unsupported_elements(html: str) -> list[str]:
    """Return the elements of a page with crowd elements that nothing here draws, or hands in.

    Without the elements' script a page draws its own, whatever they are called.
    """
    if SCRIPT not in html:
        return []
    page = outline(html)
    missing = {tag for tag in page.elements if tag.startswith("crowd-") and tag not in DRAWN}
    if any(page.uploads):
        # A file field without a name is its own script's.
        missing.add(FILE_FIELD)
    return sorted(missing)


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


DOCTYPE = re.compile(r"(?:<!--(?>.*?-->)|\s)*+<!doctype\b", re.DOTALL | re.IGNORECASE)
VARIABLE = re.compile(r"\$\{\s*([^{}$]+?)\s*\}")
# What XML 1.0 forbids: controls, halves of surrogate pairs, two that are no characters.
UNSPEAKABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
NAMESPACE = (
    "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2011-11-11/HTMLQuestion.xsd"
)
PLAIN_FIELDS = {"input", "textarea", "select"}
NOT_ANSWERS = {"submit", "button", "reset", "image"}
CROWD_SCRIPT = "https://assets.crowd.aws/crowd-html-elements.js"
# The service's own convention for a page that hands its form in.
PAGE_SCRIPT = "https://s3.amazonaws.com/mturk-public/externalHIT_v1.js"
SUBMIT_ADDRESS = "https://www.mturk.com/mturk/externalSubmit"


class _Outline(HTMLParser):
    """Collects the elements of a page and the fields that answer."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: set[str] = set()
        self.fields: list[str] = []
        self.nameless: set[str] = set()
        self.uploads: list[str] = []
        self.scripts: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Note one element."""
        self.elements.add(tag)
        values = {name: value or "" for name, value in attributes}
        kind = values.get("type", "").lower()
        if tag == "script" and "src" in values:
            self.scripts.append(values["src"])
        if tag == "input" and kind == "file":
            self.uploads.append(values.get("name", ""))
        if tag not in PLAIN_FIELDS | FIELDS or kind in NOT_ANSWERS:
            return
        name = values.get("name", "") or (tag if tag in TOOLS else "")
        if name == "assignmentId" or (tag == "crowd-radio-button" and not name):
            return
        if not name:
            self.nameless.add(tag)
        elif name not in self.fields:
            self.fields.append(name)


def outline(html: str) -> _Outline:
    """Return what elements and fields a template has."""
    found = _Outline()
    found.feed(html)
    found.close()
    return found


def template_of(terms: Mapping[str, Any]) -> str:
    """Return the template of a project: its own, or the page of a survey link."""
    if terms["kind"] == "link":
        return survey_page(terms["survey_url"], terms["description"])
    return str(terms["html"])


def variables(html: str) -> list[str]:
    """Return the names in `${…}`, each once, in the order of the template."""
    return list(dict.fromkeys(VARIABLE.findall(html)))


def warnings(html: str) -> list[str]:
    """Return a sentence for each thing in a template that will not work as it is meant."""
    found = outline(html)
    sentences = [
        f"<{tag}> is not drawn here, so HITs with it cannot be published. Ask in another way."
        for tag in sorted(found.elements)
        if tag.startswith("crowd-") and tag not in DRAWN
    ]
    if not found.fields:
        sentences.append("No field has a name, so nothing would come back. Add name=… to a field.")
    sentences += [
        f"A <{tag}> has no name, so what is written there does not come back."
        for tag in sorted(found.nameless)
    ]
    if found.uploads:
        sentences.append("Files cannot be handed in here; ask for a link instead.")
    return sentences


def filled(html: str, values: Mapping[str, str], *, are_html: bool) -> str:
    """Return the template with its variables replaced; unknown ones become empty.

    Values go in as text, or verbatim where the requester's CSV holds HTML (as the service did).
    """

    def value_of(match: re.Match[str]) -> str:
        value = values.get(match[1], "")
        return value if are_html else escape(value)

    return VARIABLE.sub(value_of, html)


def document(html: str, title: str) -> str:
    """Return a whole page of a template: a form and a button around fields that have none."""
    found = outline(html)
    has_form = bool(found.elements & {"crowd-form", "form"})
    if not has_form and found.elements & TOOLS:
        html = f"<crowd-form>\n{html}\n</crowd-form>"
        found = outline(html)
    elif not has_form:
        html = (
            f'<form name="mturk_form" id="mturk_form" method="post" action="{SUBMIT_ADDRESS}">\n'
            '<input type="hidden" name="assignmentId" id="assignmentId" value="">\n'
            f'{html}\n<p><button type="submit" id="submitButton">{marked("Submit")}</button></p>\n'
            "</form>\n"
            "<script>turkSetAssignmentID();</script>"
        )
    scripts = []
    if any(tag.startswith("crowd-") for tag in found.elements):
        scripts.append(CROWD_SCRIPT)
    if "crowd-form" not in found.elements:
        scripts.append(PAGE_SCRIPT)
    tags = "".join(f'<script src="{src}"></script>' for src in scripts if src not in found.scripts)
    if "html" in found.elements:
        whole = _after_head(html, tags)
        return whole if DOCTYPE.match(whole) else f"<!DOCTYPE html>\n{whole}"
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title>{tags}</head>\n<body>\n{html}\n</body></html>"
    )


def _after_head(html: str, tags: str) -> str:
    """Put script tags at the beginning of a page's head, or of its body where it has none."""
    for pattern in (r"<head\b[^>]*>", r"<html\b[^>]*>"):
        if match := re.search(pattern, html, re.IGNORECASE):
            return html[: match.end()] + tags + html[match.end() :]
    return tags + html


def question_xml(page: str, frame_height: int = 0) -> str:
    """Return the HTMLQuestion of a page; a height of 0 fills the window.

    Characters that XML cannot hold, as word processors leave them behind, are dropped.
    """
    content = UNSPEAKABLE.sub("", page).replace("]]>", "]]]]><![CDATA[>")
    return (
        f'<HTMLQuestion xmlns="{NAMESPACE}"><HTMLContent><![CDATA[{content}]]></HTMLContent>'
        f"<FrameHeight>{frame_height}</FrameHeight></HTMLQuestion>"
    )


def survey_page(url: str, description: str) -> str:
    """Return the template of a survey elsewhere, whose completion code comes back."""
    return (
        f"<h1>{marked('Answer a survey')}</h1>\n"
        f"<p>{escape(description)}</p>\n"
        "<ol>\n"
        f'<li><a href="{escape(url)}" target="_blank" rel="noopener">'
        f"{marked('Open the survey in a new tab.')}</a> {marked('Keep this one open.')}</li>\n"
        f"<li>{marked('At its end you get a completion code.')}</li>\n"
        f"<li>{marked('Write the code here and submit.')}</li>\n"
        "</ol>\n"
        f'<p><label for="surveycode">{marked("Completion code")}</label><br>\n'
        '<input id="surveycode" name="surveycode" required autocomplete="off"></p>'
    )
