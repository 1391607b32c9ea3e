"""Reads pages in HTML, and Markdown, which is made HTML first.

A page is read by selectolax; lxml reads it a second time, and words that only one of them has seen
are told.
"""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from collector.ingest.documents.blocks import (
    HEADING,
    MAX_TITLE,
    Block,
    DocumentText,
    clean,
    cleaned,
    said_left_out,
    title_from,
)
from collector.ingest.lines import LIST_ITEM, PARAGRAPH
from collector.ingest.links import Link

# What is no running text: the site's own parts, programs, pictures, notes and their marks.
LEFT_OUT = (
    "script, style, noscript, template, svg, math, iframe, object, video, audio, canvas, nav, "
    "footer, aside, button, select, form textarea, form label, figure, figcaption, [hidden], "
    "[aria-hidden=true], "
    "[role=navigation], [role=banner], [role=contentinfo], [role=complementary], [role=search], "
    "[role=note], [role=doc-footnote], [role=doc-endnotes], [role=doc-noteref], [role=doc-toc], "
    ".footnotes, .footnote-ref, .reference, .references, .reflist, .mw-editsection, .noprint, "
    ".navbox, .infobox, .metadata, .side-box, .hatnote, .toc, "
    "[typeof~='mw:Extension/ref'], [typeof~='mw:Extension/references']"
)
HEADINGS = {f"h{level}": level for level in range(1, 7)}
ITEMS = frozenset({"li", "dt", "dd", "pre"})
BLOCKS = frozenset(
    "address article blockquote body center dd details dialog div dl dt fieldset h1 h2 h3 h4 h5 h6 "
    "header hgroup hr html li main ol p pre section summary table tbody td tfoot th thead tr "
    "ul".split()
)
HEADING_TAGS = ", ".join(HEADINGS)
# The question of a FAQ, which opens its answer.
OPENING = ", ".join(f"{tag} button" for tag in (*HEADINGS, "dt", "summary"))
_MARK = re.compile(r"\s*[\[(]?\s*(?:\d{1,3}|[a-z]|[*†‡§]+)\s*[\])]?\s*")
_WORD = re.compile(r"\w+")
# A larger share of words that only one library has read is told.
MOST_ODD_WORDS = 0.005


def read_web_page(html: str) -> DocumentText:
    """Return the document that a page holds: its main text, tables and notes left out."""
    from selectolax.lexbor import LexborHTMLParser

    page = LexborHTMLParser(html)
    language = (page.root.attributes.get("lang") or "") if page.root else ""
    heading = page.css_first("head > title")
    told = clean(heading.text()) if heading else ""
    part = _main_part(page)
    n_tables = _take_tables_out(part)
    blocks = list(_Walk().blocks(part))
    notes = [*_disagreement(html, blocks), *said_left_out("table", n_tables)]
    return DocumentText(title_from(blocks) or told[:MAX_TITLE], blocks, language, notes=notes)


def read_markdown(text: str) -> DocumentText:
    """Return the document that a text in Markdown holds (CommonMark, tables, notes, YAML title)."""
    from markdown_it import MarkdownIt
    from mdit_py_plugins.footnote import footnote_plugin
    from mdit_py_plugins.front_matter import front_matter_plugin

    reader = MarkdownIt("commonmark").enable("table").use(footnote_plugin).use(front_matter_plugin)
    tokens = reader.parse(text)
    front = next((token.content for token in tokens if token.type == "front_matter"), "")
    title = re.search(r"^title:[ \t]*(.+?)[ \t]*$", front, re.M)
    found = read_web_page(reader.renderer.render(tokens, reader.options, {}))
    named = clean(title[1].strip("'\"")) if title else found.title
    return DocumentText(named[:MAX_TITLE], found.blocks, notes=found.notes)


def _main_part(page: Any) -> Any:
    """Return the element of the page's own text, with its tables; what is none of it taken out."""
    for mark in page.css("sup"):
        if mark.css_first("a[href^='#']") and _MARK.fullmatch(mark.text()):
            mark.decompose()
    _open_answers(page)
    for part in page.css(LEFT_OUT):
        part.decompose()
    parts = page.css("main, [role=main]") or page.css("article")
    if len(parts) == 1:
        return parts[0]
    for header in page.css("body > header"):
        header.decompose()
    return page.body or page.root


def _open_answers(page: Any) -> None:
    """Make text of the buttons in headings, and show what they open."""
    opened = set()
    for button in page.css(OPENING):
        opened.add(button.attributes.get("aria-controls"))
        button.unwrap()
    for answer in page.css("[id][hidden], [id][aria-hidden]"):
        if answer.attributes["id"] in opened:
            for name in {"hidden", "aria-hidden"} & answer.attributes.keys():
                del answer.attrs[name]


def _take_tables_out(part: Any) -> int:
    """Return how many tables of data were taken out of the page's own text."""
    # One inside another comes first: what is in a table that was taken out is there no more.
    tables = part.css("table")[::-1] if part is not None else []
    number = 0
    for table in tables:
        if not _lays_out(table):
            table.decompose()
            number += 1
    return number


def _lays_out(table: Any) -> bool:
    """Return whether a table holds the page itself: headings, or mostly paragraphs."""
    if table.attributes.get("role") == "presentation" or table.css_first(HEADING_TAGS):
        return True
    in_paragraphs = sum(len(each.text()) for each in table.css("p"))
    return in_paragraphs * 2 > len(table.text()) and len(table.css("td")) < 4


class _Walk:
    """Goes through a tree in the order of reading, and cuts it where blocks begin and end."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._links: list[Link] = []
        # Of links that are open: where each begins since the last cut, and its target.
        self._open: list[tuple[int, str]] = []
        self._length = 0

    def blocks(self, root: Any) -> Iterator[Block]:
        """Yield the blocks under `root`."""
        if root is None:
            return
        # Nodes to enter, and what to do when they are left; no recursion, as pages nest deeply.
        steps: list[tuple[str, Any]] = [("enter", root)]
        inside: list[str] = []
        while steps:
            step, node = steps.pop()
            tag = node.tag if step == "enter" else ""
            if step == "link":
                start, target = self._open.pop()
                self._links.append((start, self._length, target))
            elif step == "leave":
                yield from self._cut(inside)
                inside.pop()
            elif tag == "-text":
                self._add(node.text_content or "")
            elif tag == "br":
                self._add("\n")
            elif tag == "img" or tag.startswith(("-", "_")):
                continue
            else:
                if tag in BLOCKS:
                    yield from self._cut(inside)
                    inside.append(tag)
                    steps.append(("leave", node))
                elif tag == "a" and (target := node.attributes.get("href")):
                    self._open.append((self._length, target))
                    steps.append(("link", node))
                steps += [("enter", each) for each in reversed(list(node.iter(include_text=True)))]

    def _add(self, text: str) -> None:
        self._text.append(text)
        self._length += len(text)

    def _cut(self, inside: list[str]) -> Iterator[Block]:
        """Yield what has come since the last cut, as what it stands in."""
        whole = "".join(self._text)
        # A link around a block has words before, in and after it.
        links = [*self._links, *((start, self._length, target) for start, target in self._open)]
        self._text, self._links, self._length = [], [], 0
        self._open = [(0, target) for _, target in self._open]
        words, places = cleaned(whole) if links else (clean(whole), [])
        if not any(letter.isalnum() for letter in words):
            return
        level = next((HEADINGS[tag] for tag in reversed(inside) if tag in HEADINGS), 0)
        if level:
            yield Block(HEADING, words, level)
            return
        kind = LIST_ITEM if ITEMS.intersection(inside) else PARAGRAPH
        moved = [(places[start], places[end], target) for start, end, target in links]
        yield Block(kind, words, links=[link for link in moved if link[0] < link[1]])


def _disagreement(html: str, blocks: list[Block]) -> list[str]:
    """Return a sentence where lxml does not see the words that we have."""
    import lxml.etree
    import lxml.html

    try:
        # Bytes, so that a declared encoding is no reason to refuse what is decoded already.
        parser = lxml.html.HTMLParser(encoding="utf-8", huge_tree=True)
        tree = lxml.html.document_fromstring(html.encode("utf-8", "replace"), parser)
    except (lxml.etree.ParserError, lxml.etree.XMLSyntaxError):
        return ["lxml cannot read this page: compare it with its source."]
    theirs: list[str] = []
    for event, element in lxml.etree.iterwalk(tree, events=("start", "end", "comment", "pi")):
        is_block = element.tag in BLOCKS or element.tag == "br"
        if event == "start":
            theirs += [" " if is_block else "", element.text or ""]
        else:
            theirs += [" " if is_block else "", element.tail or ""]
    seen = Counter(_WORD.findall(clean("".join(theirs))))
    ours = Counter(word for block in blocks for word in _WORD.findall(block.text))
    odd = ours - seen
    if odd.total() <= ours.total() * MOST_ODD_WORDS:
        return []
    shown = ", ".join(list(odd)[:3])
    return [f"{odd.total()} words are read differently by lxml ({shown}): compare it."]
