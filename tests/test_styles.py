"""Buttons, fields and cards are drawn by one sheet, which every page has."""

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROOMS = {
    "requester": ROOT / "annotation/static/dashboard",
    "worker": ROOT / "tasks/static/hits",
    "marketplace": ROOT / "marketplace/static/marketplace",
}
COMPONENTS = ROOT / "common/static/common/components.css"
BUTTONS = {".button", ".button.primary", ".button.quiet", ".button.slim", ".button:hover"}
# Selectors that two rooms still have, each with a meaning of its own: the number only falls.
SHARED = 59


def selectors(sheet: Path) -> Iterator[str]:
    """Yield the selectors of a sheet's rules that stand in no condition."""
    text = re.sub(r"/\*.*?\*/", "", sheet.read_text("utf-8"), flags=re.DOTALL)
    depth, begun = 0, 0
    for place, letter in enumerate(text):
        if letter == "{":
            if depth == 0 and not (head := text[begun:place].strip()).startswith("@"):
                yield from (" ".join(one.split()) for one in re.split(r",(?![^(]*\))", head))
            depth += 1
        elif letter == "}":
            depth -= 1
            begun = place + 1 if depth == 0 else begun


def test_no_room_draws_a_button_of_its_own() -> None:
    own = {
        f"{sheet.name}: {one}"
        for folder in ROOMS.values()
        for sheet in folder.glob("*.css")
        for one in selectors(sheet)
        if one in BUTTONS
    }
    assert own == set()
    assert set(selectors(COMPONENTS)) >= BUTTONS


def test_what_two_rooms_style_alike_only_becomes_less() -> None:
    rooms = defaultdict(set)
    for room, folder in ROOMS.items():
        for sheet in folder.glob("*.css"):
            for one in selectors(sheet):
                rooms[one].add(room)
    assert sum(len(each) > 1 for each in rooms.values()) <= SHARED


def test_every_page_with_the_colours_has_the_components_after_them() -> None:
    pages = [
        path
        for folder in ("templates", "marketplace/templates")
        for path in (ROOT / folder).rglob("*.html")
        if "common/tokens.css" in path.read_text("utf-8")
    ]
    assert len(pages) > 5
    for page in pages:
        text = page.read_text("utf-8")
        assert text.index("common/tokens.css") < text.index("common/components.css"), page
