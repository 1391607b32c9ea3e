"""Puts our own drawing of the crowd-* elements into a requester's page; pure."""

import re

THEIRS = re.compile(
    r"<script\b[^>]*\bsrc\s*=\s*[\"']?[^\"'\s>]*crowd-html-elements[^\"'\s>]*[\"']?[^>]*>\s*</script>",
    re.IGNORECASE,
)
USED = re.compile(r"<crowd-[a-z]", re.IGNORECASE)


def with_own_elements(html: str, script_url: str) -> str:
    """Return the page with crowd.js at `script_url` in the place of the service's own script.

    A page that uses the elements without any script gets one at its end; others stay as they are.
    """
    own = f'<script src="{script_url}"></script>'
    if THEIRS.search(html):
        return THEIRS.sub(lambda match: own, html)
    return html + own if USED.search(html) else html
