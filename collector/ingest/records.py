"""One page of a dump → the record that is stored, or the reason why it is not."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from collector.ingest import titles
from collector.ingest.dump import RawPage, Site, parse_page
from collector.ingest.errors import MalformedPage
from collector.ingest.lines import Paragraph, Section
from collector.ingest.wikitext import Wikitext

ARTICLE = "article"
REDIRECT = "redirect"
DISAMBIGUATION = "disambiguation"
CATEGORY_NAMESPACE = 14

_NAMESPACE = re.compile(rb"<ns>\s*(-?[1-9]\d*)\s*</ns>")
_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


class PageRecord(NamedTuple):
    """An article, redirect or disambiguation page, ready for rows.

    `sections`: (level, heading), the lead first; `paragraphs`: (index of section, kind, text,
    links). Plain tuples, because they travel between processes; a redirect has none of either.
    `timestamp` is ISO 8601 or blank; `infoboxes`: the names of the templates, lower case. `pages`:
    of each paragraph, where the pages of a document begin in it; empty where there are none.
    `n_formulas`: formulas and measures that are left out, as they cannot be written as text.
    """

    title: str
    page_id: int
    kind: str
    redirect_target: str
    revision_id: int
    timestamp: str
    is_list: bool
    sections: list[Section]
    paragraphs: list[Paragraph]
    categories: list[str]
    infoboxes: Sequence[str] = ()
    pages: Sequence[Sequence[tuple[int, int]]] = ()
    n_formulas: int = 0


class CategoryRecord(NamedTuple):
    """A category's page: its title without the namespace, and the categories it is in."""

    title: str
    parents: list[str]


class SkippedRecord(NamedTuple):
    """A page that cannot be stored."""

    title: str
    reason: str


class OtherRecord(NamedTuple):
    """A page of another namespace, which is counted only."""

    namespace: int


Record = PageRecord | CategoryRecord | SkippedRecord | OtherRecord


class PageReader:
    """Makes records of one wiki's pages; keep one per process."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._wikitext = Wikitext(site)

    def read(self, xml: bytes) -> Record:
        """Return the record of `xml`, the inside of a `<page>` element; never raises for a page."""
        other = _NAMESPACE.search(xml, 0, 2000)
        if other and int(other[1]) != CATEGORY_NAMESPACE:
            return OtherRecord(int(other[1]))
        title = ""
        try:
            page = parse_page(xml)
            title = page.title
            return self._read(page)
        except MalformedPage as error:
            return SkippedRecord(title or error.title or "(no title)", error.reason)

    def _read(self, page: RawPage) -> Record:
        if page.namespace == CATEGORY_NAMESPACE:
            title = self._wikitext.titles.categories[page.title.partition(":")[2]]
            return CategoryRecord(title, self._wikitext.categories(page.text))
        if page.namespace:
            return OtherRecord(page.namespace)
        if page.model != "wikitext":
            return SkippedRecord(page.title, f"its content is {page.model}, not wikitext")
        title = self._wikitext.titles.normalise(page.title)
        if not title:
            return SkippedRecord("(no title)", "the page has an empty title")
        try:
            return self._record(page, title)
        except (RecursionError, MemoryError):
            return SkippedRecord(title, "too large to read")

    def _record(self, page: RawPage, title: str) -> PageRecord:
        parsed = self._wikitext.parse(page.text)
        redirect = parsed.redirect
        if page.redirect:
            redirect = self._wikitext.titles.normalise(page.redirect.partition("#")[0])
        kind = ARTICLE
        if redirect:
            kind = REDIRECT
        elif parsed.is_disambiguation or title.endswith("(disambiguation)"):
            kind = DISAMBIGUATION
        return PageRecord(
            title=title,
            page_id=page.page_id,
            kind=kind,
            redirect_target=redirect,
            revision_id=page.revision_id,
            timestamp=page.timestamp if _TIMESTAMP.fullmatch(page.timestamp) else "",
            is_list=titles.is_list_title(title, self._site.language),
            sections=[] if redirect else parsed.sections,
            paragraphs=[] if redirect else parsed.paragraphs,
            categories=parsed.categories,
            infoboxes=parsed.infoboxes,
            n_formulas=parsed.n_formulas,
        )
