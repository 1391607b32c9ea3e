"""Cleans the formatted text of a test: known elements stay, everything else is plain text."""

import nh3

KEPT = frozenset(
    "a b big blockquote br cite code dd del dl dt em h1 h2 h3 h4 h5 h6 hr i ins li ol p pre q s "
    "small span strong sub sup table tbody td tfoot th thead tr u ul".split()
)
# What is in these is no text.
DROPPED = frozenset({"script", "style", "iframe", "object", "title"})
_cleaner = nh3.Cleaner(
    tags=set(KEPT),
    clean_content_tags=set(DROPPED),
    attributes={"a": {"href"}},
    set_tag_attribute_values={"a": {"target": "_blank"}},
    url_schemes={"https"},
    link_rel="noopener noreferrer",
)


def clean_html(html: str) -> str:
    """Return HTML of harmless elements alone, well nested, links only to https:// addresses."""
    return _cleaner.clean(html)
