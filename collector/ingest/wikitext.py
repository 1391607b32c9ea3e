"""Turns a page's wikitext into sections, paragraphs with links, categories and infoboxes."""

import re
from dataclasses import dataclass, field

from collector.ingest import titles
from collector.ingest.dump import Site, text_of
from collector.ingest.elements import (
    FORMULAS,
    clean,
    drop_elements,
    drop_media,
    drop_tables,
    has_variants,
)
from collector.ingest.lines import LinkReader, Paragraph, Section, read_lines
from collector.ingest.templates import Templates
from collector.ingest.titles import Titles

_REDIRECT = re.compile(r"\s*#\s*([^\[:\n]{2,40}?)\s*:?\s*\[\[([^\[\]|\n]+)")
_LEAD: Section = (0, "")


@dataclass
class ParsedPage:
    """What a page says; `redirect` is the title it points to, blank for a page with text.

    `n_formulas`: how many formulas and measures are left out, as they cannot be written as text.
    """

    sections: list[Section] = field(default_factory=lambda: [_LEAD])
    paragraphs: list[Paragraph] = field(default_factory=list)
    categories: list[str] = field(default_factory=list)
    infoboxes: list[str] = field(default_factory=list)
    redirect: str = ""
    is_disambiguation: bool = False
    n_formulas: int = 0


class Wikitext:
    """Parses the pages of one wiki; keep one per process, it remembers titles."""

    def __init__(self, site: Site, *, phrases: bool = True) -> None:
        """Make one for a wiki; without `phrases` no template leaves words or links."""
        self.titles = Titles(site)
        self._templates = Templates(phrases=phrases)
        self._links = LinkReader(self.titles, site.language)
        self._variants = has_variants(site.language)

    def parse(self, xml: bytes) -> ParsedPage:
        """Return the sections, paragraphs, categories, infoboxes and redirect of a page.

        `xml`: its wikitext as the dump writes it. The time is linear in its length, whatever is
        nested or left open. Raises MalformedPage if what stays of it cannot be decoded.
        """
        if redirect := self.redirect(xml):
            return ParsedPage(redirect=redirect)
        dropped = self._templates.drop(drop_elements(b"\n" + xml))
        text, categories = drop_media(drop_tables(dropped.text), self.titles)
        text, links = self._links.read(clean(text, variants=self._variants))
        sections, paragraphs = read_lines(text, links)
        return ParsedPage(
            sections,
            paragraphs,
            list(dict.fromkeys(filter(None, categories))),
            dropped.infoboxes,
            is_disambiguation=dropped.is_disambiguation,
            n_formulas=dropped.n_unread + len(FORMULAS.findall(xml)),
        )

    def categories(self, xml: bytes) -> list[str]:
        """Return the categories that wikitext `xml` is in, read no further than they need."""
        found = drop_media(self._templates.drop(drop_elements(b"\n" + xml)).text, self.titles)[1]
        return list(dict.fromkeys(filter(None, found)))

    def redirect(self, xml: bytes) -> str:
        """Return the title that `#REDIRECT [[title]]` points to, blank if the page is none."""
        start = _REDIRECT.match(text_of(xml)) if b"#" in xml[:100] else None
        if not start or start[1].lower() not in titles.REDIRECTS:
            return ""
        return self.titles.normalise(start[2].partition("#")[0])
