"""Asks a page for its measures."""

from pathlib import Path
from typing import Any

from playwright.sync_api import Frame, Page

SOURCE = (Path(__file__).parent / "measures.js").read_text("utf-8")


def measure(place: Page | Frame, function: str, *arguments: Any) -> Any:
    """Return what a function of measures.js says of the page."""
    call = f"{function}(...arguments_)"
    return place.evaluate(f"(arguments_) => {{ {SOURCE}\nreturn {call}; }}", list(arguments))
