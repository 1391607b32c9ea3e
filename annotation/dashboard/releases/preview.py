"""What a person wants to see of a release before downloading it: its card and one example."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from common.markdown import html_of

CARD = "README.md"
# An example stands near the beginning of its file; the rest of a large one is not read.
READ_CHARACTERS = 2_000_000
LONGEST_TEXT = 280
LONGEST_LIST = 3


@dataclass(frozen=True)
class Example:
    """The first example of a file, its long texts and lists cut short, as JSON to read."""

    file: str
    json: str


def card_html(path: Path) -> str:
    """Return a release's README as HTML; raw HTML in it is shown as text."""
    return html_of(path.read_text("utf-8"))


def first_example(folder: Path, names: list[str]) -> Example | None:
    """Return the first example of the first of these JSON files that has one, else None.

    The official layouts are lists of examples, or objects that hold such a list.
    """
    for name in names:
        with (folder / name).open(encoding="utf-8") as file:
            text = file.read(READ_CHARACTERS)
        start = text.find("[")
        found = text.find("{", start + 1)
        if start < 0 or found < 0 or text[start + 1 : found].strip():
            continue
        try:
            example, _ = json.JSONDecoder().raw_decode(text, found)
        except ValueError:
            continue
        return Example(name, json.dumps(_shortened(example), indent=2, ensure_ascii=False))
    return None


def _shortened(value: Any) -> Any:
    if isinstance(value, str) and len(value) > LONGEST_TEXT:
        return f"{value[:LONGEST_TEXT]} …"
    if isinstance(value, list):
        more = [f"… {len(value) - LONGEST_LIST} more"] if len(value) > LONGEST_LIST else []
        return [_shortened(one) for one in value[:LONGEST_LIST]] + more
    if isinstance(value, dict):
        return {name: _shortened(one) for name, one in value.items()}
    return value
