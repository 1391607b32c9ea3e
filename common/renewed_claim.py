"""Keeps a claim in a row alive while its work lasts."""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.db import DatabaseError, connection

log = logging.getLogger(__name__)


@contextmanager
def renewed(renew: Callable[[], object], seconds: float) -> Iterator[None]:
    """Call `renew` every so many seconds, in a thread of its own, while the block lasts.

    A database that is away is logged and met again the next time. Within a transaction nothing is
    renewed: nobody else sees the claim yet, and on SQLite its renewal would wait for our own end.
    """
    if connection.in_atomic_block:
        yield
        return
    over = threading.Event()

    def keep() -> None:
        while not over.wait(seconds):
            try:
                renew()
            except DatabaseError as error:
                log.warning("%s: %s", type(error).__name__, error)
            finally:
                # Nobody else closes what this thread has opened.
                connection.close()

    keeper = threading.Thread(target=keep, name="claim", daemon=True)
    keeper.start()
    try:
        yield
    finally:
        over.set()
        keeper.join()
