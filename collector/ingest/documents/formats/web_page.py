"""Reads pages in HTML, and Markdown, which is made HTML first.

A page is read by selectolax; lxml reads it a second time, and words that only one of them has seen
are told.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from collector.ingest.decoding import known_encoding
from collector.ingest.documents.blocks import (
    HEADING,
    MAX_TITLE,
    Block,
    DocumentText,
    clean,
    cleaned,
    said_left_out,
    size,
    title_from,
)
from collector.ingest.documents.catalogue import DocumentFormat, text_of
from collector.ingest.lines import LIST_ITEM, PARAGRAPH, Link
from collector.ingest.raised import lowered, raised

_DECLARED = re.compile(rb"<(?:meta|\?xml)[^>]*?(?:charset|encoding)=[\"']?([\w.:-]+)", re.I)
_HEAD_BYTES = 2048
# What no reader sees.
UNSHOWN = "script, style, template"
# What is no running text, by the rule.
BESIDE = "parts of the site"
LEFT_OUT = {
    BESIDE: (
        "nav, footer, aside, noscript, [role=navigation], [role=banner], [role=contentinfo], "
        "[role=complementary], [role=search], [role=doc-toc], .mw-editsection, .noprint, .navbox, "
        ".metadata, .side-box, .hatnote, .toc"
    ),
    "pictures": "svg, iframe, object, video, audio, canvas, figure, figcaption",
    "formulas": "math",
    "forms": "button, select, form textarea, form label",
    "notes": (
        "[role=note], [role=doc-footnote], [role=doc-endnotes], [role=doc-noteref], .footnotes, "
        # MediaWiki's; a link is of this class in what docutils and Sphinx make.
        ".footnote-ref, .footnote-reference, dl.footnote, sup.reference, .references, .reflist, "
        "[typeof~='mw:Extension/ref'], [typeof~='mw:Extension/references']"
    ),
    "tables": ".infobox",
    "ruby annotations": "ruby rt, ruby rp, ruby rtc",
    "hidden text": "[hidden], [aria-hidden=true]",
}
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
# ours: a longer text that is alone in a table is the page's, which is laid out so.
LONGEST_CELL = 60
# A larger share of words that only one library has read is told.
MOST_ODD_WORDS = 0.005


class WebPage(DocumentFormat):
    """A page in HTML."""

    name = "html"
    label = help = "HTML"
    extensions = ("html", "htm", "xhtml")
    rank = 3
    needs = ("lxml.html", "selectolax.lexbor")

    def read(self, path: Path, name: str) -> DocumentText:
        """Return the document that a page holds."""
        return read_web_page(decoded_page(path, name))


class Markdown(DocumentFormat):
    """Text in Markdown."""

    name = "md"
    label = help = "Markdown"
    extensions = ("md", "markdown")
    rank = 2
    needs = (*WebPage.needs, "markdown_it")

    def read(self, path: Path, name: str) -> DocumentText:
        """Return the document that a text in Markdown holds."""
        return read_markdown(text_of(path, name))


def decoded_page(path: Path, name: str) -> str:
    """Return the text of a page, in the encoding that it says it is in if that is so."""
    content = path.read_bytes()
    declared = _DECLARED.search(content[:_HEAD_BYTES])
    encoding = known_encoding(declared[1].decode("ascii")) if declared else ""
    try:
        if encoding and encoding != "utf-8":
            return content.decode(encoding).replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError:
        pass
    return text_of(path, name)


def read_web_page(html: str) -> DocumentText:
    """Return the document that a page holds: its main text, tables and notes left out."""
    from selectolax.lexbor import LexborHTMLParser

    page = LexborHTMLParser(html)
    language = (page.root.attributes.get("lang") or "") if page.root else ""
    heading = page.css_first("head > title")
    told = clean(heading.text()) if heading else ""
    left_out = _without_what_is_no_text(page)
    part = _main_part(page, left_out)
    number = whole = 0
    for table in part.css("table")[::-1] if part is not None else []:
        if not _lays_out(table):
            whole += _take_out([table])
            number += 1
    n_tables, n_characters = (number, whole)
    left_out["tables"] += n_characters
    blocks = list(_Walk().blocks(part))
    notes = [*_disagreement(html, blocks), *said_left_out("table", n_tables)]
    title = title_from(blocks) or told[:MAX_TITLE]
    return DocumentText(title, blocks, language, notes=notes, left_out=+left_out)


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
    left_out = Counter(found.left_out) + Counter({"a head in YAML": size(front)})
    return DocumentText(named[:MAX_TITLE], found.blocks, notes=found.notes, left_out=left_out)


def _without_what_is_no_text(page: Any) -> Counter[str]:
    """Take out of a page what is not its text; return how much that was, by rule."""
    for part in page.css(UNSHOWN)[::-1]:
        part.decompose()
    marks = [
        mark
        for mark in page.css("sup")
        if mark.css_first("a[href^='#']") and _MARK.fullmatch(mark.text())
    ]
    left_out = Counter(notes=_take_out(marks))
    opened = set()
    for button in page.css(OPENING):
        opened.add(button.attributes.get("aria-controls"))
        button.unwrap()
    for answer in page.css("[id][hidden], [id][aria-hidden]"):
        if answer.attributes["id"] in opened:
            for name in {"hidden", "aria-hidden"} & answer.attributes.keys():
                del answer.attrs[name]
    for rule, selector in LEFT_OUT.items():
        left_out[rule] += _take_out(page.css(selector))
    return left_out


def _take_out(parts: Sequence[Any]) -> int:
    """Take elements, in the order of the page, out of it; return the size of their text."""
    whole = 0
    # One inside another comes first: what is in an element that was taken out is there no more.
    for part in reversed(parts):
        whole += size(part.text(separator=" "))
        part.decompose()
    return whole


def _main_part(page: Any, left_out: Counter[str]) -> Any:
    """Return the element of the page's own text, with its tables; add what else there is."""
    parts = page.css("main, [role=main]") or page.css("article")
    if len(parts) == 1:
        whole = page.body or page.root
        left_out[BESIDE] += size(whole.text(separator=" ")) - size(parts[0].text(separator=" "))
        return parts[0]
    left_out[BESIDE] += _take_out(page.css("body > header"))
    return page.body or page.root


def _lays_out(table: Any) -> bool:
    """Return whether a table holds the page itself: headings, mostly paragraphs, or one text."""
    if table.attributes.get("role") == "presentation" or table.css_first(HEADING_TAGS):
        return True
    whole = table.text()
    cells = table.css("td, th")
    in_paragraphs = sum(len(each.text()) for each in table.css("p"))
    if in_paragraphs * 2 > len(whole) and len(cells) < 4:
        return True
    filled = [each for each in cells if _table_of(each) == table.mem_id and size(each.text())]
    return len(filled) == 1 and size(whole) > LONGEST_CELL


def _table_of(cell: Any) -> int:
    """Return the id of the table that a cell is in itself, not those around it."""
    node = cell.parent
    while node is not None and node.tag != "table":
        node = node.parent
    return node.mem_id if node is not None else 0


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
        # The inner of two first: what stands in it is known then.
        for number in root.css("sup, sub")[::-1]:
            words, before = number.text(), number.prev.text() if number.prev else ""
            written = (raised if number.tag == "sup" else lowered)(words, before)
            if written != words:
                number.replace_with(written)
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


def _words(text: str) -> list[str]:
    """Return the words of a text, raised and lowered digits as others."""
    return _WORD.findall(unicodedata.normalize("NFKC", clean(text)))


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
    seen = Counter(_words("".join(theirs)))
    ours = Counter(word for block in blocks for word in _words(block.text))
    odd = ours - seen
    if odd.total() <= ours.total() * MOST_ODD_WORDS:
        return []
    shown = ", ".join(list(odd)[:3])
    return [f"{odd.total()} words are read differently by lxml ({shown}): compare it."]
