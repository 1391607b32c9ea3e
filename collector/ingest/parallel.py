"""Reads pages in several processes; the records come back in the dump's order."""

import fcntl
import gc
import marshal
import os
import shutil
import time
from collections.abc import Iterator
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from itertools import count, islice
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Any

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
from collector.parallel import Helping, in_processes

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
        yield from _unpacked(in_processes(processes, _read, work, _start, site, helping=helping))


@contextmanager
def _own_folder() -> Iterator[str]:
    """Give an empty folder, held by a lock; those that killed processes have left are removed."""
    _remove_left_behind()
    with TemporaryDirectory(prefix=PREFIX) as folder:
        held = os.open(folder, os.O_RDONLY)
        try:
            fcntl.flock(held, fcntl.LOCK_EX)
            yield folder
        finally:
            os.close(held)


def _remove_left_behind() -> None:
    for folder in Path(gettempdir()).glob(f"{PREFIX}*"):
        # Another process may end, or it may be somebody else's.
        with suppress(OSError):
            if time.time() - folder.lstat().st_mtime > SETTLED_SECONDS:
                _remove_unheld(folder)


def _remove_unheld(folder: Path) -> None:
    """Remove the folder, unless a living process holds it: then raises OSError."""
    held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder, ignore_errors=True)
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


def _unpacked(results: Iterator[list[Record] | str]) -> Iterator[list[Record]]:
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
