"""Which port this home is served on: kept beside its databases, so that commands find the site."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from common.safe_files import private_text

FILE = "port"
SECONDS = 0.5


@contextmanager
def announced_port(home: Path, port: int) -> Iterator[None]:
    """Let commands know the port until the block is left."""
    path = home / FILE
    private_text(path, f"{port}\n")
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


def served_port(home: Path) -> int | None:
    """Return the port that somebody serves this home on now, None where nobody does."""
    try:
        port = int((home / FILE).read_text("utf-8"))
        with socket.create_connection(("127.0.0.1", port), timeout=SECONDS):
            return port
    except (OSError, ValueError, OverflowError):
        # Never served, or cut off without a word: what is not answered is not served.
        return None
