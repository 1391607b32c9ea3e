"""Reads pages in several processes; the records come back in the dump's order."""

import gc
import marshal
from collections.abc import Iterator
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import islice

from collector.ingest.dump import Dump
from collector.ingest.errors import DumpError
from collector.ingest.records import (
    CategoryRecord,
    OtherRecord,
    PageReader,
    PageRecord,
    Record,
    SkippedRecord,
)
from collector.ingest.wiki_site import Site
from collector.parallel import in_processes

# Large enough that handing a batch to another process costs little, small enough that a
# transaction is short and that a killed process repeats little.
BATCH_BYTES = 1 << 20
BATCH_PAGES = 500

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
    `processes`; with one, or where everything fits in one batch, nothing is started. At most a few
    batches are held at once.

    Raises DumpError where the dump ends too early, after all batches before it.
    """
    work = batches(islice(dump.pages(), skip, None))
    reader = PageReader(site)
    for batch in islice(work, None if processes <= 1 else 1):
        yield _read_batch(reader, batch)
    if processes <= 1:
        return
    yield from _unpacked(in_processes(processes, _read, work, _start, site))


def _unpacked(results: Iterator[bytes]) -> Iterator[list[Record]]:
    try:
        for packed in results:
            with _no_collecting():
                records = unpack(packed)
            yield records
    except BrokenProcessPool as error:
        raise DumpError(
            "a process that reads pages ended, perhaps for lack of memory; run the same "
            "command with fewer --processes: what was read before stays."
        ) from error


def _start(site: Site) -> None:
    global _reader
    _reader = PageReader(site)


def _read(batch: list[bytes]) -> bytes:
    # Packed here and unpacked by the reader of the results, not by the executor, which would
    # look for cycles meanwhile.
    return pack(_read_batch(_reader, batch))


def pack(records: list[Record]) -> bytes:
    """Return `records` as bytes for another process of this same Python.

    By marshal, not pickle: it knows no classes, and so takes less than half of the time.
    """
    return marshal.dumps([(_KINDS.index(type(record)), *record) for record in records])


def unpack(packed: bytes) -> list[Record]:
    """Return the records that `pack` has packed."""
    return [_KINDS[kind](*fields) for kind, *fields in marshal.loads(packed)]


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
