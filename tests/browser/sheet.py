"""Keeps the pictures of a contact sheet and writes its index."""

import html
import re
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Page

SIZES = {1366: 768, 768: 1024}
STATES = ("empty", "one item", "full", "error", "longest text")
HEAD = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Every page</title>
<style>body{font:16px sans-serif;margin:2rem}figure{display:inline-block;margin:0 1rem 1rem 0;
vertical-align:top}img{border:1px solid #999;height:22rem;max-width:46rem;object-fit:cover;
object-position:top}figcaption{color:#555}</style><h1>Every page</h1>
"""


@dataclass(frozen=True)
class Picture:
    """One page in one state at one width."""

    page: str
    state: str
    width: int
    file: str


class Sheet:
    """The pictures taken so far, and where they are kept."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.pictures: list[Picture] = []
        folder.mkdir(parents=True, exist_ok=True)

    def take(self, page: Page, name: str, state: str, *, whole: bool = True) -> None:
        """Take a page at every width; `whole` takes what is below the window too."""
        for width, height in SIZES.items():
            page.set_viewport_size({"width": width, "height": height})
            page.wait_for_timeout(150)
            file = re.sub(r"\W+", "-", f"{name} {state} {width}").strip("-").lower() + ".png"
            page.screenshot(path=self.folder / file, full_page=whole)
            self.pictures.append(Picture(name, state, width, file))
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
                    f"</a><figcaption>{each.state}, {each.width} px</figcaption></figure>"
                )
        index = self.folder / "index.html"
        index.write_text("\n".join(parts), "utf-8")
        return index
