"""One ZIP of a release's files, made while it is sent."""

import io
import zipfile
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path

PIECE_BYTES = 1 << 16


class _Outbox(io.RawIOBase):
    """What a ZIP is written to: it cannot seek, and forgets what was taken out of it."""

    def __init__(self) -> None:
        super().__init__()
        self._pieces: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: "bytes | memoryview") -> int:  # type: ignore[override]
        self._pieces.append(bytes(data))
        return len(data)

    def take(self) -> bytes:
        """Return all that was written since the last time."""
        taken, self._pieces = b"".join(self._pieces), []
        return taken


def zipped(folder: Path, names: Iterable[str], top: str, at: datetime) -> Iterator[bytes]:
    """Yield the ZIP of these files of a folder in pieces, under one folder named `top`.

    The same files and moment give the same bytes. No file is held in memory.
    """
    outbox = _Outbox()
    with zipfile.ZipFile(outbox, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            entry = zipfile.ZipInfo(f"{top}/{name}", at.timetuple()[:6])
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            path = folder / name
            entry.file_size = path.stat().st_size
            with path.open("rb") as source, archive.open(entry, "w") as target:
                while piece := source.read(PIECE_BYTES):
                    target.write(piece)
                    yield outbox.take()
    yield outbox.take()
