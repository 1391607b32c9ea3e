"""One site serves a home at a time: a lock that ends with its process and says who holds it."""

import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from common.safe_files import FILE_MODE

FILE = "served"
SECONDS = 0.5


class HomeServedError(Exception):
    """Another process serves this home; the message says which, and what to do."""


@contextmanager
def locked_home(home: Path, address: str, port: int | None = None) -> Iterator[bool]:
    """Hold a home until the block is left; yields whether who held it before was cut off.

    address: where the site is. port: the one by which commands find it, None where they need not.
    Raises HomeServedError, and nothing is changed. The kernel frees the lock of a killed process.
    """
    with open(
        os.open(home / FILE, os.O_CREAT | os.O_RDWR, FILE_MODE), "r+", encoding="utf-8"
    ) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder, where, *_ = [*file.read().splitlines(), "?", "?"]
            raise HomeServedError(
                f"{home} is served by process {holder} at {where} already: stop that first, or "
                "set COLLECTOR_HOME to another folder."
            ) from None
        was_cut_off = bool(file.read())
        _write(file, f"{os.getpid()}\n{address}\n{port or ''}\n")
        try:
            yield was_cut_off
        finally:
            _write(file, "")


def _write(file: TextIO, text: str) -> None:
    file.seek(0)
    file.truncate()
    file.write(text)
    file.flush()


def served_port(home: Path) -> int | None:
    """Return the port that somebody serves this home on now, None where nobody does."""
    try:
        port = int((home / FILE).read_text("utf-8").splitlines()[2])
        with socket.create_connection(("127.0.0.1", port), timeout=SECONDS):
            return port
    except (OSError, ValueError, IndexError, OverflowError):
        # Never served, or cut off without a word: what is not answered is not served.
        return None
