"""Turns a page's wikitext into sections, paragraphs with links, and categories."""

import re
from dataclasses import dataclass
from typing import NamedTuple

from collector.ingest import names
from collector.ingest.elements import (
    drop_comments,
    drop_elements,
    drop_references,
    drop_tags,
    hide_literals,
)
from collector.ingest.inline import Link, balanced, clean, read_links, trail_of
from collector.ingest.media import drop_media
from collector.ingest.shield import show
from collector.ingest.site import Site
from collector.ingest.tables import drop_tables
from collector.ingest.templates import Templates
from collector.ingest.titles import Titles

PARAGRAPH = "paragraph"
LIST_ITEM = "list_item"

_REDIRECT = re.compile(r"\s*#\s*([^\[:\n]{2,40}?)\s*:?\s*\[\[([^\[\]|\n]+)")
_HEADING = re.compile(r"(={1,6})(.+?)\1\s*$")
_HIDDEN = re.compile("[\ufdd0-\ufdef]")


class ParsedParagraph(NamedTuple):
    """`section` is an index into the page's sections; offsets are code points into `text`."""

    section: int
    kind: str
    text: str
    links: list[Link]


class ParsedSection(NamedTuple):
    """`level` is the number of `=` of its heading; the lead has level 0 and no heading."""

    level: int
    heading: str


@dataclass
class ParsedPage:
    """What a page says; `redirect` is the title it points to, blank for a page with text."""

    sections: list[ParsedSection]
    paragraphs: list[ParsedParagraph]
    categories: list[str]
    redirect: str = ""
    is_disambiguation: bool = False


class Wikitext:
    """Parses the pages of one wiki; keep one per process, it remembers titles."""

    def __init__(self, site: Site) -> None:
        self.titles = Titles(site)
        self._templates = Templates()
        self._trail = trail_of(site.language)

    def parse(self, text: str) -> ParsedPage:
        """Return the sections, paragraphs, categories and redirect of wikitext `text`.

        The time is linear in its length, whatever is nested or left open.
        """
        if redirect := self.redirect(text):
            return ParsedPage([ParsedSection(0, "")], [], [], redirect)
        text = hide_literals(text)
        text = drop_references(drop_comments(text))
        if "<" in text:
            text = drop_elements(text)
        text, templates = self._templates.drop("\n" + text)
        text, categories = drop_media(drop_tables(text), self.titles)
        if "<" in text:
            text = drop_tags(text)
        page = self._lines(clean(text))
        page.categories = list(dict.fromkeys(categories))
        page.is_disambiguation = any(
            name.replace("_", " ").strip().lower() in names.DISAMBIGUATION for name in templates
        )
        return page

    def redirect(self, text: str) -> str:
        """Return the title that `#REDIRECT [[title]]` points to, blank if the page is none."""
        start = _REDIRECT.match(text) if "#" in text[:100] else None
        if not start or start[1].lower() not in names.REDIRECTS:
            return ""
        return self.titles.normalise(start[2].partition("#")[0]) or ""

    def _lines(self, text: str) -> ParsedPage:
        page = ParsedPage([ParsedSection(0, "")], [], [])
        waiting: list[str] = []
        for line in text.split("\n"):
            if not line or line.isspace():
                self._flush(page, waiting)
                continue
            if line[0] not in " =*#:;|!{}-" or _is_prose(line):
                waiting.append(line)
            else:
                self._flush(page, waiting)
                self._special(page, line)
        self._flush(page, waiting)
        return _without_empty_sections(page)

    def _flush(self, page: ParsedPage, waiting: list[str]) -> None:
        """End the paragraph: lines without a blank line between them are one, as on the wiki."""
        if waiting:
            self._add(page, PARAGRAPH, " ".join(waiting))
            waiting.clear()

    def _special(self, page: ParsedPage, line: str) -> None:
        if line[0] == "=" and (heading := _HEADING.match(line)):
            text, _ = self._read(heading[2])
            page.sections.append(ParsedSection(len(heading[1]), text))
        elif line[0] in "*#:; ":
            self._add(page, LIST_ITEM, line.lstrip("*#:; "))
        elif line[0] in "={}-":
            self._add(page, PARAGRAPH, line.lstrip("={}-"))

    def _add(self, page: ParsedPage, kind: str, line: str) -> None:
        text, links = self._read(line)
        if text:
            page.paragraphs.append(ParsedParagraph(len(page.sections) - 1, kind, text, links))

    def _read(self, line: str) -> tuple[str, list[Link]]:
        line = line.strip()
        if line.count("[[") != line.count("]]") or "{{" in line or "}}" in line or "|}" in line:
            line = balanced(line)
        if "[[" not in line:
            return show(line) if _HIDDEN.search(line) else line, []
        text, links = read_links(line, self.titles.article, self._trail)
        if _HIDDEN.search(text):
            text = show(text)
            links = [(start, end, show(title)) for start, end, title in links]
        return text.strip(), links


def _is_prose(line: str) -> bool:
    """Return whether a line that begins with a mark is prose all the same."""
    if line[0] == "-":
        return not line.startswith("----")
    return line[0] == "!" and "!!" not in line and "|" not in line


def _without_empty_sections(page: ParsedPage) -> ParsedPage:
    """Drop headings with no text under them, as those of references and galleries are."""
    used = {paragraph.section for paragraph in page.paragraphs}
    level, kept = 0, []
    for index in range(len(page.sections) - 1, -1, -1):
        section = page.sections[index]
        # A heading stays when the section after it, one of its own, stays.
        if index == 0 or index in used or level > section.level:
            kept.append(index)
            level = section.level
    if len(kept) == len(page.sections):
        return page
    new = {old: position for position, old in enumerate(reversed(kept))}
    page.sections = [page.sections[index] for index in reversed(kept)]
    page.paragraphs = [each._replace(section=new[each.section]) for each in page.paragraphs]
    return page
