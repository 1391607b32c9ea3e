"""What axe finds serious on a page, in light and in dark."""

from pathlib import Path
from typing import Any

import axe_playwright_python
from playwright.sync_api import Frame, Page

SOURCE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text("utf-8")
# The frame is examined by itself: it is another site, into which the page cannot look.
RUN = "async () => (await axe.run({iframes: false, resultTypes: ['violations']})).violations"


def faults(page: Page, place: Page | Frame | None = None) -> list[str]:
    """Return what axe calls serious or critical in `place`, by default the page itself."""
    found = []
    for scheme in ("light", "dark"):
        # Colours that are still on their way from one scheme to the other are nobody's.
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        found += [f"{scheme}: {fault}" for fault in _faults(place or page)]
    page.emulate_media(color_scheme="light")
    return found


def _faults(place: Page | Frame) -> list[str]:
    if not place.evaluate("typeof axe === 'object'"):
        place.evaluate(SOURCE)
    return [
        f"{place.url}: {one['id']}: {_where(node)}"
        for one in place.evaluate(RUN)
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
    ]


def _where(node: dict[str, Any]) -> str:
    return f"{node['target']}: {node['failureSummary']}"
