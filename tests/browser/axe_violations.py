"""What axe finds on a page, in light and in dark."""

from collections.abc import Collection
from pathlib import Path
from typing import Any

import axe_playwright_python
from playwright.sync_api import Frame, Page

SOURCE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text("utf-8")
# In dark a page differs by its colours alone.
RULES = {"light": None, "dark": ["color-contrast", "link-in-text-block"]}
# The frame is examined by itself: it is another site, into which the page cannot look.
RUN = """async ([within, runOnly, rules]) => {
  const options = {iframes: false, resultTypes: ["violations"], ...(runOnly ? {runOnly} : {rules})};
  return (await axe.run(within, options)).violations;
}"""
# Whoever speaks to their computer says what they see; axe looks at that only when told to.
AS_SEEN = {"label-content-name-mismatch": {"enabled": True}}
SERIOUS = ("serious", "critical")


def faults(
    page: Page,
    place: Page | Frame | None = None,
    within: str = "html",
    impacts: Collection[str] = SERIOUS,
    rules: dict[str, Any] | None = None,
) -> list[str]:
    """Return what axe calls `impacts` in `place`, by default the page itself.

    within: selects the part that has changed since the place was looked at as a whole.
    rules: those that axe does not ask for by itself.
    """
    place = place or page
    found = []
    for scheme, only in RULES.items():
        # Colours that are still on their way from one scheme to the other are nobody's.
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        if not place.evaluate("typeof axe === 'object'"):
            place.evaluate(SOURCE)
        found += [
            f"{scheme}: {place.url}: {one['id']}: {_where(node)}"
            for one in place.evaluate(RUN, [within, only, rules or {}])
            if one["impact"] in impacts
            for node in one["nodes"]
        ]
    page.emulate_media(color_scheme="light")
    return found


def _where(node: dict[str, Any]) -> str:
    return f"{node['target']}: {node['failureSummary']}"
