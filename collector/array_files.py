"""Files of arrays, mapped into memory: one line that describes the contents, then the arrays.

Modules that work on arrays import `numpy` from here, where it loads at its first use.
"""

import fcntl
import json
import mmap
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

from common.safe_files import private_path


class _Numpy:
    """numpy, imported at its first use: most processes never use it."""

    def __getattr__(self, name: str) -> Any:
        value = getattr(import_module("numpy"), name)
        setattr(self, name, value)
        return value


numpy: Any = _Numpy()
HEAD_BYTES = 4096
ALIGNMENT = 64


class ArraysError(Exception):
    """A file is not what it should be; the message says why."""


def create(path: Path, name: str, shapes: Mapping[str, tuple[str, int]]) -> dict[str, Any]:
    """Write a file of empty arrays to `path` and return them, mapped for writing.

    name: the kind of contents, with its version. shapes: the type and length of each array.
    """
    head = json.dumps({"holds": name, "arrays": shapes}).encode()
    places, size = _places(shapes)
    with path.open("wb+") as file:
        file.write(head.ljust(HEAD_BYTES - 1) + b"\n")
        file.truncate(size)
        mapped = mmap.mmap(file.fileno(), size)
    return _mapped(mapped, places)


def read(path: Path, name: str) -> dict[str, Any]:
    """Return the arrays of the file at `path`, mapped for reading.

    Raises ArraysError if the file has other contents or was cut short.
    """
    try:
        with path.open("rb") as file:
            head = json.loads(file.readline(HEAD_BYTES))
            places, size = _places(head["arrays"])
            if head["holds"] != name or path.stat().st_size != size:
                raise ValueError("another version, or cut short")
            mapped = mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ArraysError(f"{path} cannot be read ({error})") from None
    return _mapped(mapped, places)


class Columns:
    """Columns that grow at their ends, one file each in `folder`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: dict[str, BinaryIO] = {}

    def __enter__(self) -> "Columns":
        return self

    def __exit__(self, *error: object) -> None:
        for file in self._files.values():
            file.close()

    def add(self, name: str, values: Any) -> None:
        """Add `values` to the end of the column `name`."""
        if name not in self._files:
            self._files[name] = (self._folder / f"{name}.column").open("wb")
        self._files[name].write(values.tobytes())

    def size(self, name: str) -> int:
        """Return how many bytes the column `name` has."""
        return self._files[name].tell() if name in self._files else 0


def column(folder: Path, name: str, kind: str) -> Any:
    """Return a written column, mapped into memory; kind: its numpy type."""
    path = folder / f"{name}.column"
    if not path.exists() or not path.stat().st_size:
        return numpy.zeros(0, kind)
    return numpy.memmap(path, kind, "r")


@contextmanager
def exclusive_folder(folder: Path) -> Iterator[Path]:
    """Yield `folder`, empty, to build in; a second builder on this machine waits for the first."""
    private_path(folder.parent)
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        # Leftovers of a killed process.
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def put_in_place(path: Path, target: Path) -> None:
    """Move a written file to `target`, whole or not at all."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
    path.replace(target)


def _places(shapes: Mapping[str, Any]) -> tuple[dict[str, tuple[str, int, int]], int]:
    """Return the type, length and first byte of each array, and the size of the whole file."""
    at = HEAD_BYTES
    places = {}
    for name, (kind, length) in shapes.items():
        places[name] = (kind, length, at)
        at += -(-length * numpy.dtype(kind).itemsize // ALIGNMENT) * ALIGNMENT
    return places, at


def _mapped(mapped: mmap.mmap, places: dict[str, tuple[str, int, int]]) -> dict[str, Any]:
    return {
        name: numpy.frombuffer(mapped, kind, length, at)
        for name, (kind, length, at) in places.items()
    }
