"""Reads a .xml, .bz2 or .gz file as a stream of bytes, and refuses decompression bombs."""

import bz2
import os
import shutil
import subprocess
import tempfile
import zlib
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Protocol

from collector.ingest.errors import DumpError

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
