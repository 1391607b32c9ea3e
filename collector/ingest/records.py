"""One page of a dump → the record that is stored, or why it is not; by several processes."""

import fcntl
import gc
import marshal
import os
import re
import shutil
import time
from collections.abc import Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from itertools import count, islice
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Any, NamedTuple

from collector.ingest import titles
from collector.ingest.dump import Dump, RawPage, Site, parse_page
from collector.ingest.errors import DumpError, MalformedPage
from collector.ingest.lines import Paragraph, Section
from collector.ingest.wikitext import Wikitext
from collector.processes import Helping, in_processes

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
        except (RecursionError, MemoryError):
            return SkippedRecord(title, "too large to read")


# Large enough that handing a batch to another process costs little, small enough that a
# transaction is short and that a killed process repeats little.
BATCH_BYTES = 1 << 20
BATCH_PAGES = 500

# Where pages and records lie between processes. One just made may not be held by its process yet.
PREFIX = "collector-pages-"
SETTLED_SECONDS = 60

_KINDS: tuple[type[Record], ...] = (PageRecord, CategoryRecord, SkippedRecord, OtherRecord)

_reader: PageReader


def batches(pages: Iterator[bytes]) -> Iterator[list[bytes]]:
    """Yield the pages in lists of about BATCH_BYTES, at most BATCH_PAGES each."""
    batch: list[bytes] = []
    n_bytes = 0
    try:
        for page in pages:
            batch.append(page)
            n_bytes += len(page)
            if n_bytes >= BATCH_BYTES or len(batch) >= BATCH_PAGES:
                yield batch
                batch, n_bytes = [], 0
    except Exception:
        # The pages before a damaged place are whole: they are stored before anyone is told.
        if batch:
            yield batch
        raise
    if batch:
        yield batch


def read_records(
    dump: Dump, site: Site, processes: int = 1, skip: int = 0
) -> Iterator[list[Record]]:
    """Yield the records of the dump's pages in batches, in order, the first `skip` pages left out.

    `site`: the dump's own, or with its language corrected. The result does not depend on
    `processes`, of which this one is one; with one, or where everything fits in one batch, nothing
    is started. At most a few batches are held at once.

    Raises DumpError where the dump ends too early, after all batches before it.
    """
    work = batches(islice(dump.pages(), skip, None))
    reader = PageReader(site)
    for batch in islice(work, None if processes <= 1 else 1):
        yield _read_batch(reader, batch)
    if processes <= 1:
        return
    with _own_folder() as folder:
        numbers = count()
        helping = Helping[list[bytes], list[Record] | str](
            send=lambda batch: _put(batch, f"{folder}/{next(numbers)}"),
            do=lambda batch: _read_batch(reader, batch),
        )
        yield from unpacked(in_processes(processes, _read, work, _start, site, helping=helping))


@contextmanager
def _own_folder() -> Iterator[str]:
    """Give an empty folder, held by a lock; those that killed processes have left are removed."""
    for left in Path(gettempdir()).glob(f"{PREFIX}*"):
        # Another process may end, or hold it, or it may be another user's.
        with suppress(OSError):
            if time.time() - left.lstat().st_mtime > SETTLED_SECONDS:
                held = os.open(left, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
                try:
                    fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(left, ignore_errors=True)
                finally:
                    os.close(held)
    with TemporaryDirectory(prefix=PREFIX) as folder:
        held = os.open(folder, os.O_RDONLY)
        try:
            fcntl.flock(held, fcntl.LOCK_EX)
            yield folder
        finally:
            os.close(held)


def _put(value: Any, path: str) -> str:
    """Write `value`, which another process is to take, to `path`; return the path.

    A pipe holds 64 KiB: who writes more waits for its reader, who is at other work.
    """
    with open(path, "wb") as file:
        marshal.dump(value, file)
    return path


def _take(path: str) -> Any:
    """Return what another process has put there, and remove it."""
    with open(path, "rb") as file:
        os.unlink(path)
        return marshal.loads(file.read())


def unpacked(results: Iterator[list[Record] | str]) -> Iterator[list[Record]]:
    """Yield what processes have read; raises DumpError where one of them ended."""
    try:
        for result in results:
            if isinstance(result, str):
                with _no_collecting():
                    result = unpack(_take(result))
            yield result
    except BrokenProcessPool as error:
        raise DumpError(
            "a process that reads pages ended, perhaps for lack of memory; run the same "
            "command with fewer --processes: what was read before stays."
        ) from error


def _start(site: Site) -> None:
    global _reader
    _reader = PageReader(site)


def _read(path: str) -> str:
    # Nothing is looked through for cycles before all of it is gone.
    with _no_collecting():
        return _put(pack(_read_batch(_reader, _take(path))), path)


def pack(records: list[Record]) -> list[tuple[Any, ...]]:
    """Return `records` as what marshal can write for another process of this same Python.

    Not pickle: marshal knows no classes, and so takes less than half of the time.
    """
    return [(_KINDS.index(type(record)), *record) for record in records]


def unpack(packed: list[tuple[Any, ...]]) -> list[Record]:
    """Return the records that `pack` has packed."""
    return [_KINDS[kind](*fields) for kind, *fields in packed]


def _read_batch(reader: PageReader, batch: list[bytes]) -> list[Record]:
    with _no_collecting():
        return [reader.read(page) for page in batch]


@contextmanager
def _no_collecting() -> Iterator[None]:
    """Look for no cycles: records are many small objects without any, and looking takes long."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
