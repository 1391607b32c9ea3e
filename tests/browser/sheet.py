"""Keeps the pictures of a contact sheet and writes its index."""

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Page

SIZES = {1366: 768, 768: 1024, 390: 844}
STATES = ("empty", "one item", "full", "error", "longest text")
HEAD = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Every page</title>
<style>body{font:16px sans-serif;margin:2rem}figure{display:inline-block;margin:0 1rem 1rem 0;
vertical-align:top}img{border:1px solid #999;height:22rem;max-width:46rem;object-fit:cover;
object-position:top}figcaption{color:#555}</style><h1>Every page</h1>
"""


@dataclass(frozen=True)
class Picture:
    """One page in one state at one width, in light or dark colours."""

    page: str
    state: str
    width: int
    scheme: str
    file: str


@dataclass(frozen=True)
class Choice:
    """Which pages are taken, by words of their names, and how; no words take every page."""

    words: Sequence[str] = ()
    widths: Sequence[int] = (1366, 768)
    schemes: Sequence[str] = ("light",)


class Sheet:
    """The pictures taken so far, and where they are kept."""

    def __init__(self, folder: Path, choice: Choice) -> None:
        self.folder = folder
        self.choice = choice
        self.pictures: list[Picture] = []
        folder.mkdir(parents=True, exist_ok=True)

    def wants(self, *beginnings: str) -> bool:
        """Return whether pages can be chosen whose names begin with one of these."""
        words = self.choice.words
        return not words or any(
            word in beginning or word.startswith(beginning)
            for word in words
            for beginning in beginnings
        )

    def take(self, page: Page, name: str, state: str, *, whole: bool = True) -> None:
        """Take a page, if it is chosen; `whole` takes what is below the window too."""
        if self.choice.words and not any(word in name for word in self.choice.words):
            return
        for width in self.choice.widths:
            page.set_viewport_size({"width": width, "height": SIZES[width]})
            for scheme in self.choice.schemes:
                page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
                page.wait_for_timeout(300)
                words = re.sub(r"\W+", "-", f"{name} {state} {width} {scheme}")
                file = words.strip("-").lower() + ".png"
                page.screenshot(path=self.folder / file, full_page=whole)
                self.pictures.append(Picture(name, state, width, scheme, file))
        page.emulate_media(color_scheme="light")
        page.set_viewport_size({"width": 1366, "height": 768})
        print(f"{name}: {state}", flush=True)

    def write(self) -> Path:
        """Write the index and return its path."""
        parts = [HEAD]
        for name in dict.fromkeys(picture.page for picture in self.pictures):
            parts.append(f"<h2>{html.escape(name)}</h2>")
            shown = [picture for picture in self.pictures if picture.page == name]
            for each in sorted(shown, key=lambda picture: STATES.index(picture.state)):
                parts.append(
                    f'<figure><a href="{each.file}"><img src="{each.file}" alt="" loading="lazy">'
                    f"</a><figcaption>{each.state}, {each.width} px, {each.scheme}</figcaption>"
                    "</figure>"
                )
        index = self.folder / "index.html"
        index.write_text("\n".join(parts), "utf-8")
        return index
