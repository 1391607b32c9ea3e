"""Tells what a book's bytes are: its encoding, and whether they are a text at all."""

import codecs
import re
from typing import NamedTuple

from collector.ingest.errors import BookError
from common.markup import HTMLParser

# Of what is no text, by its first bytes.
_NO_TEXT = {
    b"PK\x03\x04": "a zip archive; unpack it",
    b"\x1f\x8b": "a gzip archive; unpack it",
    b"BZh": "a bzip2 archive; unpack it",
    b"%PDF": "a PDF; convert it to plain text",
    b"\x89PNG": "an image",
    b"\xff\xd8\xff": "an image",
    b"{\\rtf": "a word processor's file; save it as plain text",
    b"\xd0\xcf\x11\xe0": "a word processor's file; save it as plain text",
}
_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
    # Pages and XML need no mark: their first character tells.
    b"<\x00": "utf-16-le",
    b"\x00<": "utf-16-be",
}
_DECLARED = re.compile(rb"^Character set encoding:[ \t]*([\w .()-]+?)[ \t]*\r?$", re.M | re.I)
# How many bytes may declare the encoding, and how many letters are looked at to guess it.
_HEAD_BYTES = 20_000
_SAMPLE_BYTES = 50_000
_ASCII_LETTER = re.compile(rb"[A-Za-z]")
_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f\ufffe\uffff]")
# A stray form feed or a lost character is no reason to refuse a book.
_MOST_CONTROLS = 0.001
# A page with a larger share of its words in fixed pitch is a screenplay's.
SCREENPLAY = 0.5
_MARKUP = re.compile(r"\s*(<!doctype html|<html|<\?xml[^>]*>\s*<html)", re.I)


class DecodedText(NamedTuple):
    """A text with `\\n` at its line ends, and the name of the encoding it was in."""

    text: str
    encoding: str


def decode(content: bytes, name: str) -> DecodedText:
    """Return a file's text; of a page in HTML, what is read of it. Raises BookError as below."""
    text, encoding = decoded_text(content, name)
    if _MARKUP.match(text):
        reader = _Reader()
        reader.feed(text)
        reader.close()
        shown, fixed = "".join(reader.shown), "".join(reader.fixed)
        # Around a screenplay are links and offers; a book may have a letter or a table so.
        is_screenplay = len(fixed.split()) > SCREENPLAY * len(shown.split())
        text = _CONTROL.sub("\N{REPLACEMENT CHARACTER}", (fixed if is_screenplay else shown))
    return DecodedText(text, encoding)


def decoded_text(content: bytes, name: str) -> DecodedText:
    """Return a file's text as it is.

    UTF-8 or UTF-16 by their marks, then UTF-8, then what a Gutenberg header declares, then the
    likeliest one. Raises BookError for what is no text.
    """
    for start, what in _NO_TEXT.items():
        if content.startswith(start):
            raise BookError(f"{name} is {what}.")
    encoding = _encoding(content)
    text = content.decode(encoding, errors="replace").replace("\r\n", "\n").replace("\r", "\n")
    if not text.strip():
        raise BookError(f"{name} is empty.")
    if len(_CONTROL.findall(text)) > len(text) * _MOST_CONTROLS:
        raise BookError(f"{name} is no text: it holds bytes that no text has.")
    return DecodedText(_CONTROL.sub("\N{REPLACEMENT CHARACTER}", text), encoding)


def _encoding(content: bytes) -> str:
    for mark, encoding in _MARKS.items():
        if content.startswith(mark):
            return encoding
    if _is_in(content, "utf-8"):
        return "utf-8"
    declared = _DECLARED.search(content[:_HEAD_BYTES])
    if declared:
        encoding = known_encoding(declared[1].decode("ascii"))
        if encoding and _is_in(content, encoding):
            return encoding
    n_ascii = len(_ASCII_LETTER.findall(content))
    if len(content.translate(None, bytes(range(128)))) < n_ascii:
        return "cp1252" if _is_in(content, "cp1252") else "latin-1"
    from charset_normalizer import from_bytes

    best = from_bytes(content[:_SAMPLE_BYTES]).best()
    return best.encoding if best and _is_in(content, best.encoding) else "latin-1"


def known_encoding(declared: str) -> str:
    """Return Python's name of an encoding as a header writes it, blank for one it does not know."""
    # "ISO Latin-1", "ISO-646-US (US-ASCII)", "Windows-1252".
    name = declared.partition("(")[0].strip().replace("ISO Latin", "Latin").replace(" ", "-")
    try:
        found = codecs.lookup(name).name
    except LookupError:
        return ""
    # What calls itself Latin-1 has Windows' quotes and dashes where that has nothing to read.
    return "cp1252" if found == "iso8859-1" else found


def _is_in(content: bytes, encoding: str) -> bool:
    try:
        content.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


class _Reader(HTMLParser):
    """Collects what a page shows, and what of it is set in fixed pitch."""

    SILENT = frozenset({"script", "style", "head", "title"})
    LINES = frozenset(
        "article blockquote br center dd div dl dt h1 h2 h3 h4 h5 h6 hr li ol p pre section table "
        "td th tr ul".split()
    )

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.shown: list[str] = []
        self.fixed: list[str] = []
        self._silent = self._fixed = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:
        """Enter an element."""
        # Pages need not close their head.
        self._silent = 0 if tag == "body" else self._silent + (tag in self.SILENT)
        if tag in self.LINES and not self._fixed:
            self.shown.append("\n")
        self._fixed += tag == "pre"

    def handle_endtag(self, tag: str) -> None:
        """Leave an element."""
        self._silent = max(0, self._silent - (tag in self.SILENT))
        self._fixed = max(0, self._fixed - (tag == "pre"))
        if tag in self.LINES and not self._fixed:
            self.shown.append("\n")

    def handle_data(self, data: str) -> None:
        """Keep what is read."""
        if self._silent:
            return
        self.shown.append(data)
        if self._fixed:
            self.fixed.append(data)
