"""The crowd elements that `crowd.js` draws, and what of a page it does not."""

from common.html_parser import HTMLParser

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


class _Names(HTMLParser):
    """Collects the names of elements, what stands in comments and scripts left out."""

    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Note one element."""
        self.found.add(tag)
        values = dict(attributes)
        is_file = tag == "input" and (values.get("type") or "").lower() == "file"
        if is_file and values.get("name"):
            # One without a name is its own script's.
            self.found.add(FILE_FIELD)


def unsupported_elements(html: str) -> list[str]:
    """Return the elements of a page with crowd elements that nothing here draws, or hands in.

    Without the elements' script a page draws its own, whatever they are called.
    """
    if SCRIPT not in html:
        return []
    names = _Names()
    names.feed(html)
    names.close()
    return sorted(
        one
        for one in names.found
        if one == FILE_FIELD or (one.startswith("crowd-") and one not in DRAWN)
    )
