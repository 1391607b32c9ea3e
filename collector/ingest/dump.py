"""Streams the pages of MediaWiki XML dumps, compressed or not; memory does not grow with a dump."""

import bz2
import codecs
import os
import re
import shutil
import subprocess
import tempfile
import xml.etree.ElementTree as ElementTree
import zlib
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol

from collector.ingest.errors import DumpError, MalformedPage

_REFERENCE = re.compile("&#?[0-9A-Za-z]{0,10};?")
_NUMBER = re.compile("&#(?:x([0-9a-fA-F]{1,6})|([0-9]{1,7}));")


def text_of(xml: bytes) -> str:
    """Return the text that `xml`, which holds no tags, is read as.

    Raises MalformedPage, without a title, if it is not UTF-8 or a reference stands for nothing.
    """
    return decoded(unescaped(narrow(xml)))


def narrow(xml: bytes) -> str:
    """Return a string with one character for each byte of `xml`.

    In UTF-8 a byte below 128 is always that character of ASCII. So a search for ASCII only can
    do it here, where looking is faster than among wide characters, before `decoded`.
    """
    return xml.decode("latin-1")


def decoded(text: str) -> str:
    """Return what the bytes in `text`, a narrow string, mean. Raises MalformedPage if nothing."""
    try:
        return text.encode("latin-1").decode()
    except UnicodeDecodeError as error:
        raise MalformedPage("", "not valid UTF-8") from error


def unescaped(text: str) -> str:
    """Return `text`, a narrow string, with characters in place of its references, narrow too.

    Raises MalformedPage if one stands for nothing.
    """
    return _REFERENCE.sub(_in_place_of_reference, text) if "&" in text else text


class _References(dict[str, str]):
    """What character references stand for, narrow; MalformedPage if for nothing."""

    def __missing__(self, reference: str) -> str:
        number = _NUMBER.fullmatch(reference)
        if number:
            code = int(number[1], 16) if number[1] else int(number[2])
            if code in (9, 10, 13) or 32 <= code < 0xD800 or 0xE000 <= code < 0x110000:
                return "\n" if code == 13 else narrow(chr(code).encode())
        raise MalformedPage("", f"an unknown character reference {reference}")


_CHARACTERS = _References({"&lt;": "<", "&gt;": ">", "&amp;": "&", "&quot;": '"', "&apos;": "'"})


def _in_place_of_reference(match: re.Match[str]) -> str:
    return _CHARACTERS[match[0]]


# ISO 639 codes of languages that Wikipedia writes from right to left.
RIGHT_TO_LEFT = re.compile(
    "ae|aeb|ajp|apc|arc?|ary|arz|azb|bcc|bgn|bqi|ckb|dv|fa|glk|he|khw|ks|lki|lrc|luz|mzn|nqo|"
    "pnb|ps|sdh?|skr|syr|ug|ur|yi"
)

# What XML in UTF-16 begins with: its mark or, without one, its first character.
UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, b"<\x00", b"\x00<")


@dataclass(frozen=True)
class Site:
    """The head of a dump; `namespaces` maps a lower-case name to its number."""

    language: str = "en"
    name: str = ""
    base_url: str = ""
    generator: str = ""
    first_letter_upper: bool = True
    namespaces: dict[str, int] = field(default_factory=dict)

    @property
    def direction(self) -> str:
        """Return `rtl` or `ltr`."""
        return direction_of(self.language)


def direction_of(language: str) -> str:
    """Return `rtl` or `ltr` for a language code such as `ar` or `zh-Hant`."""
    return "rtl" if RIGHT_TO_LEFT.fullmatch(language.lower().partition("-")[0]) else "ltr"


def read_site(head: bytes, name: str) -> Site:
    """Return what `head`, the bytes before the first page of the file `name`, says of the wiki.

    Raises DumpError if it is not the head of a MediaWiki export.
    """
    if head.startswith(UTF_16):
        raise DumpError(
            f"{name} is in UTF-16, and a wiki's dump is in UTF-8: convert it, for instance with "
            "iconv -f UTF-16 -t UTF-8, and read that file in."
        )
    opening = re.search(rb"<mediawiki\b([^>]*)>", head)
    if not opening:
        raise DumpError(
            f"{name} is not a MediaWiki XML export: it has no <mediawiki> element at its start. "
            "Give the pages-articles dump of a wiki, or what its Special:Export page saves."
        )
    language = re.search(rb'xml:lang="([^"]+)"', opening[1])
    site = Site(language=language[1].decode() if language else "en")
    info = re.search(rb"<siteinfo>.*?</siteinfo>", head, re.DOTALL)
    if not info:
        return site
    try:
        element = ElementTree.fromstring(info[0])
    except ElementTree.ParseError as error:
        raise DumpError(
            f"{name} has a damaged <siteinfo> element ({error}); download the file again."
        ) from error
    names = {
        " ".join((each.text or "").replace("_", " ").split()).lower(): int(each.get("key", "0"))
        for each in element.iter("namespace")
    }
    return Site(
        language=site.language,
        name=element.findtext("sitename", "").strip(),
        base_url=element.findtext("base", "").strip(),
        generator=element.findtext("generator", "").strip(),
        first_letter_upper=element.findtext("case", "first-letter").strip() == "first-letter",
        namespaces=names,
    )


CHUNK_BYTES = 1 << 20
# Dumps of articles shrink about 5 times, of whole histories about 100 times.
MAX_RATIO = 400
# Small files may hold a few pages of one repeated letter without being bombs.
MIN_SUSPICIOUS_BYTES = 64 << 20

OTHER_ARCHIVES = {
    b"7z\xbc\xaf": "7-Zip",
    b"\xfd7zX": "xz",
    b"PK\x03\x04": "ZIP",
    b"\x28\xb5\x2f\xfd": "Zstandard",
}


class Decompressor(Protocol):
    """What bz2 and zlib have in common here."""

    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


class Source:
    """One file being read: its size, how far it has been read, and what is in it."""

    def __init__(self, path: Path, threads: int = 1) -> None:
        """Open `path`; `threads`: cores that decompression may use.

        Raises DumpError if the file is missing or packed in a way that is not read here.
        """
        self.path = path
        self._threads = max(1, threads)
        try:
            # Unbuffered, so that the file's position says how much of it has been read.
            self._file = path.open("rb", buffering=0)
            self.size = os.fstat(self._file.fileno()).st_size
            self._magic = self._file.read(4)
            self._file.seek(0)
        except OSError as error:
            raise DumpError(f"{path}: {error.strerror}; check the path.") from error
        if self._magic in OTHER_ARCHIVES:
            self._file.close()
            raise DumpError(
                f"{path.name} is packed with {OTHER_ARCHIVES[self._magic]}; unpack it, "
                "or download the .bz2 of the same dump."
            )

    def close(self) -> None:
        """Close the file; a second time does nothing."""
        self._file.close()

    def position(self) -> int:
        """Return how many bytes of the file have been read, 0 … size."""
        return self.size if self._file.closed else os.lseek(self._file.fileno(), 0, os.SEEK_CUR)

    def chunks(self) -> Generator[bytes, None, None]:
        """Yield the decompressed bytes in chunks of about a mebibyte, then close the file.

        The format is told by the first bytes, not by the name. bzip2 is left to the program lbzip2
        where it is installed, else to Python's own module.

        Raises DumpError if the file is cut short, damaged, or inflates more than MAX_RATIO times.
        """
        limit = max(MIN_SUSPICIOUS_BYTES, MAX_RATIO * self.size)
        n_bytes = 0
        with self._file:
            for chunk in self._unpacked():
                n_bytes += len(chunk)
                if n_bytes > limit:
                    raise DumpError(
                        f"{self.path.name} inflates to more than {MAX_RATIO} times its size, as a "
                        "decompression bomb does and no dump; reading stopped."
                    )
                yield chunk

    def _unpacked(self) -> Iterator[bytes]:
        if self._magic[:2] == b"\x1f\x8b":
            return self._inflated(_Gzip)
        if self._magic[:3] != b"BZh":
            return iter(lambda: self._file.read(CHUNK_BYTES), b"")
        program = shutil.which("lbzip2")
        if program:
            return self._piped([program, "-d", "-c", "-n", str(self._threads)])
        return self._inflated(bz2.BZ2Decompressor)

    def _piped(self, command: list[str]) -> Iterator[bytes]:
        with (
            tempfile.TemporaryFile() as complaints,
            subprocess.Popen(
                command,
                stdin=self._file,
                stdout=subprocess.PIPE,
                stderr=complaints,
                pipesize=CHUNK_BYTES,
            ) as process,
        ):
            assert process.stdout is not None
            try:
                while chunk := process.stdout.read(CHUNK_BYTES):
                    yield chunk
                failed = process.wait() != 0
            finally:
                # A reader that stops early must not leave the program waiting at a full pipe.
                process.kill()
            if failed:
                raise self._damaged()

    def _inflated(self, new: Callable[[], Decompressor]) -> Iterator[bytes]:
        """Yield what one or several compressed streams in a row hold, never much at once."""
        stream, started = new(), False
        while data := self._file.read(CHUNK_BYTES // 4):
            started = True
            while True:
                try:
                    out = stream.decompress(data, CHUNK_BYTES)
                except (OSError, zlib.error) as error:
                    raise self._damaged() from error
                if out:
                    yield out
                data = b""
                if stream.eof:
                    data, stream = stream.unused_data, new()
                    started = bool(data)
                    if not started:
                        break
                elif len(out) < CHUNK_BYTES:
                    break
        if started:
            raise self._damaged()

    def _damaged(self) -> DumpError:
        return DumpError(
            f"{self.path.name} is cut short or damaged; download it again and run the same "
            "command: what was read before stays and is not read twice."
        )


class _Gzip:
    """zlib's decompressor with the interface of bz2's: input not yet used is kept inside."""

    def __init__(self) -> None:
        self._inner = zlib.decompressobj(wbits=31)

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        return self._inner.decompress(self._inner.unconsumed_tail + data, max_length)


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
        head = b""
        for chunk in self._chunks:
            head += chunk
            self.n_bytes = len(head)
            if b"<page>" in head or b"</mediawiki>" in head or len(head) > MAX_PAGE_BYTES:
                break
            if len(head) > 65536 and b"<mediawiki" not in head:
                break
        before = head.partition(b"<page>")[0]
        self.site: Site = read_site(before, path.name)
        self._rest = head[len(before) :]

    def close(self) -> None:
        """Close the file; a second time does nothing."""
        self._chunks.close()
        self.source.close()

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
