"""Streams the pages of a MediaWiki XML dump; memory does not grow with the dump."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from collector.ingest.decompression import Source
from collector.ingest.errors import DumpError, MalformedPage
from collector.ingest.wiki_site import Site, read_site
from collector.ingest.xml_text import text_of

# MediaWiki stores no page over 2 MiB; ten times that is not a page any more.
MAX_TEXT_BYTES = 20 << 20
# What a reader holds at most while it waits for the end of one page.
MAX_PAGE_BYTES = 64 << 20

_PAGE_TAG = re.compile(rb"<(/?)page>")
_TITLE = re.compile(rb"<title>([^<]*)</title>")
_NAMESPACE = re.compile(rb"<ns>\s*(-?\d+)\s*</ns>")
_ID = re.compile(rb"<id>\s*(\d+)\s*</id>")
_REDIRECT = re.compile(rb'<redirect title="([^"]*)"')
_TIMESTAMP = re.compile(rb"<timestamp>([^<]*)</timestamp>")
_MODEL = re.compile(rb"<model>([^<]*)</model>")
_TEXT = re.compile(rb"<text\b[^>]*?(/?)>")
# What XML 1.0 forbids and databases refuse.
_CONTROL = bytes([*range(9), 11, 12, *range(14, 32)])


class RawPage(NamedTuple):
    """One page as the dump has it; of several revisions the last.

    `text` is not yet read: much of it is dropped sooner than its references are replaced.
    """

    title: str
    namespace: int
    page_id: int
    redirect: str
    revision_id: int
    timestamp: str
    model: str
    text: bytes


class Dump:
    """A dump opened for reading: its site, and its pages unparsed, in order."""

    def __init__(self, path: Path, threads: int = 1) -> None:
        """Open `path` and read its head; `threads`: cores that decompression may use.

        Raises DumpError if the file is missing or is not a MediaWiki export.
        """
        self.source = Source(path, threads)
        self.name = path.name
        self.n_bytes = 0
        self._chunks = self.source.chunks()
        head = self._read_head()
        before = head.partition(b"<page>")[0]
        self.site: Site = read_site(before, path.name)
        self._rest = head[len(before) :]

    def close(self) -> None:
        """Close the file; a second time does nothing."""
        self._chunks.close()
        self.source.close()

    def _read_head(self) -> bytes:
        head = b""
        for chunk in self._chunks:
            head += chunk
            self.n_bytes = len(head)
            if b"<page>" in head or b"</mediawiki>" in head or len(head) > MAX_PAGE_BYTES:
                break
            if len(head) > 65536 and b"<mediawiki" not in head:
                break
        return head

    def pages(self) -> Iterator[bytes]:
        """Yield what stands between `<page>` and `</page>`, and each page that was never closed.

        Raises DumpError if the file turns out to be cut short, damaged or a bomb; the pages
        yielded before are whole.
        """
        rest, n_pages = self._rest, 0
        n_searched = 0
        opened = False
        while True:
            start = 0
            # One pattern for both tags looks through everything once.
            for tag in _PAGE_TAG.finditer(rest, n_searched):
                # A second opening means that the page before it was cut.
                if tag[1] or opened:
                    n_pages += 1
                    yield rest[start : tag.start()]
                start, opened = tag.end(), not tag[1]
            rest = rest[start:]
            # The beginning of a tag may stand at the end.
            n_searched = max(0, len(rest) - len(b"</page>"))
            if len(rest) > MAX_PAGE_BYTES:
                raise DumpError(
                    f"{self.name}: page {n_pages + 1} is larger than {MAX_PAGE_BYTES >> 20} MiB, "
                    "as no page of a wiki is; reading stopped, the pages before it stay."
                )
            chunk = next(self._chunks, None)
            if chunk is None:
                break
            self.n_bytes += len(chunk)
            rest += chunk
        if b"</mediawiki>" not in rest:
            raise DumpError(
                f"{self.name} ends in the middle, after page {n_pages}; download it again and run "
                "the same command: what was read before stays and is not read twice."
            )


def parse_page(xml: bytes) -> RawPage:
    """Return the page written in `xml`, the inside of a `<page>` element.

    Raises MalformedPage if it is not well-formed or lacks what every page has.
    """
    # Pages are long: what is not copied and not looked through twice saves a tenth of the time.
    start = xml.find(b"<revision>")
    head = xml[:start] if start >= 0 else xml
    found = _TITLE.search(head)
    if not found:
        raise MalformedPage("", "the page has no title")
    title = _title(found[1])
    namespace, page_id = _NAMESPACE.search(head), _ID.search(head)
    if not page_id:
        raise MalformedPage(title, "the page has no id")
    opening = _TEXT.search(xml, start) if start >= 0 else None
    if opening and _is_history(xml, start, opening):
        start = xml.rfind(b"<revision>")
        opening = _TEXT.search(xml, start)
    if not opening:
        raise MalformedPage(title, "the page has no revision with a text")
    limits = start, opening.start()
    revision_id, timestamp = _ID.search(xml, *limits), _TIMESTAMP.search(xml, *limits)
    if not revision_id:
        raise MalformedPage(title, "the page has no revision with a text")
    redirect, model = _REDIRECT.search(head), _MODEL.search(xml, *limits)
    return RawPage(
        title=title,
        namespace=int(namespace[1]) if namespace else 0,
        page_id=int(page_id[1]),
        redirect=_title(redirect[1], title) if redirect else "",
        revision_id=int(revision_id[1]),
        timestamp=timestamp[1].decode("ascii", "replace") if timestamp else "",
        model=model[1].decode("ascii", "replace") if model else "wikitext",
        text=_text(xml, opening, title),
    )


def _is_history(xml: bytes, start: int, opening: re.Match[bytes]) -> bool:
    """Return whether a revision follows that at `start`; `opening`: the first text's tag."""
    # A text has no tags: the end of it is found without looking for longer words in it.
    after = xml.find(b"<", opening.end())
    return (
        xml.find(b"<revision>", start + 1, opening.start()) >= 0
        or xml.find(b"<revision>", after) >= 0
    )


def _text(xml: bytes, opening: re.Match[bytes], title: str) -> bytes:
    if opening[1]:
        return b""
    start = opening.end()
    end = xml.find(b"<", start)
    if not xml.startswith(b"</text>", end):
        # Markup that is not escaped, or no end.
        end = xml.find(b"</text>", start)
    if end < 0:
        raise MalformedPage(title, "the page's text has no end")
    if end - start > MAX_TEXT_BYTES:
        raise MalformedPage(title, f"the page's text is over {MAX_TEXT_BYTES >> 20} MiB")
    text = xml[start:end]
    _check(text, title)
    # Every end of a line is one character (XML 1.0, 2.11).
    return text.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in text else text


def _title(xml: bytes, title: str = "") -> str:
    """Return the title that `xml` is read as; `title`: that of its page, as far as known."""
    _check(xml, title)
    try:
        return text_of(xml)
    except MalformedPage as error:
        raise MalformedPage(title, error.reason) from error


def _check(data: bytes, title: str) -> None:
    if b"<" in data:
        raise MalformedPage(title, "unescaped markup in the page's text")
    # Deleting and comparing lengths is ten times faster than searching with a pattern.
    if len(data.translate(None, _CONTROL)) != len(data):
        raise MalformedPage(title, "control characters that XML forbids")
