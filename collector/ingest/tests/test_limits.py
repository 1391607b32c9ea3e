"""A file that would take all memory or all time is left out alone; it opens nothing else."""

import mmap
import socket
import struct
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from collector.ingest.books.parsing import Tables, identify_books
from collector.ingest.documents import reading
from collector.ingest.documents.blocks import DocumentText
from collector.ingest.documents.files import DocumentFile, find_files
from collector.ingest.documents.formats.plain_text import PlainText
from collector.ingest.documents.reading import FoundDocument, LeftOut, read_files
from collector.ingest.documents.tests import making
from collector.ingest.documents.tests.making import prose
from collector.ingest.errors import BookError
from collector.processes import Limits, PassedLimit, has_landlock, in_processes, run_limited

HARMFUL = {
    "twice.pdf": making.pdf_that_draws_itself_twice,
    "packed.pdf": making.pdf_packed_twice,
}


def test_what_would_take_the_machine_is_left_out_and_the_next_document_goes_on(
    tmp_path: Path,
) -> None:
    for name, content in HARMFUL.items():
        making.write(tmp_path / name, content())
    making.write(tmp_path / "tower.txt", prose(8))
    files = [DocumentFile(name, tmp_path / name) for name in (*HARMFUL, "tower.txt")]
    *left_out, (tower,) = read_files(files, 1, {})
    assert isinstance(tower, FoundDocument)
    for name, (one,) in zip(HARMFUL, left_out, strict=True):
        assert isinstance(one, LeftOut)
        assert one.why.startswith(f"{name} is left out: to read it takes ")
        assert "\n" not in one.why


@pytest.mark.long
def test_pages_of_many_attributes_or_levels_take_no_longer_than_their_size_allows(
    tmp_path: Path,
) -> None:
    attributes = b" ".join(b"a%d=b" % number for number in range(300_000))
    pages = (b"<p " + attributes + b">text", b"<div>" * 200_000 + b"text" + b"</div>" * 200_000)
    for page in pages:
        path = making.write(tmp_path / "page.html", page)
        ((one,),) = read_files([DocumentFile("page.html", path)], 1, {})
        assert isinstance(one, LeftOut)
        assert "seconds of the processor" in one.why


def test_a_document_at_which_its_reader_fails_is_left_out_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(PlainText, "read", lambda *_: DocumentText("", [][0]))
    path = making.write(tmp_path / "a.txt", prose(3))
    (one,) = reading.read_file((DocumentFile("a.txt", path), path, ""))
    assert isinstance(one, LeftOut)
    assert one.why.startswith("a.txt is left out: its reader failed. ")
    # What a programmer needs to know of it stands in the log alone.
    assert "IndexError" in caplog.text


@pytest.mark.long
def test_an_archive_of_millions_of_files_is_not_opened(tmp_path: Path) -> None:
    number = 3_000_000
    # Entries without a name, and the end of an archive that holds more of them than zip once knew.
    entry = struct.pack("<4s4B4HL2L5H2L", b"PK\x01\x02", 20, 0, 20, *[0] * 4, 33, *[0] * 10)
    size = number * len(entry)
    large = (b"PK\x06\x06", 44, 45, 45, 0, 0, number, number, size, 0)
    end = struct.pack("<4sQ2H2L4Q", *large) + struct.pack("<4sLQL", b"PK\x06\x07", 0, size, 1)
    end += struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, *[0xFFFF] * 2, *[0xFFFFFFFF] * 2, 0)
    making.write(tmp_path / "many.zip", entry * number + end)
    found, (why,) = find_files([tmp_path])
    assert found == []
    assert why.startswith("many.zip was not opened: to list what it holds takes more than 1 GiB")


def test_a_book_that_is_too_much_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "huge.txt"
    with path.open("wb") as file:
        file.truncate(1100 << 20)
    with pytest.raises(
        BookError, match=r"^huge\.txt is no book that can be read: it takes more than"
    ):
        list(identify_books([path], Tables(), 1))


def spin(_: object) -> None:
    while True:
        pass


def sleep(_: object) -> None:
    time.sleep(60)


def fill(_: object) -> bytes:
    return bytes(2 << 30)


class Bomb:
    """Takes all memory once it is to be sent."""

    def __reduce__(self) -> Any:
        raise MemoryError


def break_off(_: object) -> list[Any]:
    return [bytes(1 << 20), Bomb()]


def read(path: Path) -> bytes:
    return path.read_bytes()


def write(path: Path) -> None:
    path.write_text("text")


def call(address: tuple[str, int]) -> None:
    socket.create_connection(address, timeout=1)


def in_a_child(function: Callable[[Any], Any], argument: object, *files: Path) -> Any:
    """Return what a child of a small process returns: this one may hold more than a child may."""
    work = iter([(function, argument, Limits(1, files))])
    return next(in_processes(1, _run, work))


def _run(work: tuple[Callable[[Any], Any], object, Limits]) -> Any:
    return run_limited(*work)


@pytest.mark.parametrize(
    ("function", "takes"),
    [
        (spin, "1 second of the processor"),
        (sleep, "1 second of"),
        (fill, "1 GiB of memory"),
        (break_off, "1 GiB of memory"),
    ],
)
def test_a_child_that_passes_a_limit_ends(function: Callable[[Any], Any], takes: str) -> None:
    with pytest.raises(PassedLimit, match=f"^more than {takes}"):
        in_a_child(function, None)


def _run_beside_much_that_is_set_aside(work: tuple[Callable[[Any], Any], object, Limits]) -> Any:
    with mmap.mmap(-1, 4 << 30, prot=0):
        return run_limited(*work)


def test_addresses_that_are_set_aside_are_no_memory(tmp_path: Path) -> None:
    own = making.write(tmp_path / "own.txt", "own")
    work = iter([(read, own, Limits(1, (own,))), (fill, None, Limits(1))])
    results = in_processes(1, _run_beside_much_that_is_set_aside, work)
    assert next(results) == b"own"
    with pytest.raises(PassedLimit):
        next(results)


@pytest.mark.skipif(not has_landlock(), reason="this kernel has no Landlock")
def test_a_child_reads_its_own_file_and_no_other_and_calls_nobody(tmp_path: Path) -> None:
    own, other = making.write(tmp_path / "own.txt", "own"), making.write(tmp_path / "a.txt", "a")
    assert in_a_child(read, own, own) == b"own"
    with socket.create_server(("127.0.0.1", 0)) as server:
        for function, argument in ((read, other), (write, own), (call, server.getsockname())):
            with pytest.raises(PermissionError):
                in_a_child(function, argument, own)
