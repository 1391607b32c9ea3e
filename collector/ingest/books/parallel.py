"""Reads books in several processes, which load nothing of Django; they come back in order."""

import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from multiprocessing import get_context

from collector.ingest.books.reading import BookRecord, Found, read_book
from collector.ingest.errors import BookError
from collector.parallel import in_order


def read_books(
    found: Sequence[Found], language: str, passage_tokens: int, processes: int
) -> Iterator[BookRecord]:
    """Yield the books in order, whatever the number of processes; raises BookError."""
    read = partial(read_book, language=language, passage_tokens=passage_tokens)
    if processes <= 1 or len(found) <= 1:
        yield from map(read, found)
        return
    # Spawned, not forked: the caller may run threads and hold database connections.
    executor = ProcessPoolExecutor(processes, get_context("spawn"), _leave_ctrl_c_to_the_parent)
    try:
        yield from in_order(executor, read, iter(found), 2 * processes)
    except BrokenProcessPool as error:
        raise BookError(
            "a process that reads books ended, perhaps for lack of memory; run the same command "
            "with fewer --processes: what was read before stays."
        ) from error
    finally:
        executor.shutdown(wait=True, cancel_futures=True)


def _leave_ctrl_c_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
