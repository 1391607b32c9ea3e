"""Several processes give the same records in the same order as one."""

import fcntl
import os
import tempfile
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import pytest

from collector.ingest import records
from collector.ingest.dump import Dump, Site
from collector.ingest.errors import DumpError
from collector.ingest.records import PageReader, Record, batches, pack, read_records, unpack
from collector.ingest.tests.dumps import dump, write
from collector.processes import Helping, in_order

PAGES = {f"Page {n}": f"Text {n} of [[Page {n + 1}]]." for n in range(30)}


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "BATCH_PAGES", 4)


def all_records(path: Path, processes: int, skip: int = 0) -> list[Record]:
    opened = Dump(path)
    found = read_records(opened, opened.site, processes, skip)
    return [record for batch in found for record in batch]


def test_the_number_of_processes_does_not_change_the_result(tmp_path: Path) -> None:
    path = write(tmp_path / "d.xml.bz2", dump(PAGES))
    one = all_records(path, 1)
    assert [record[0] for record in one] == list(PAGES)
    assert all_records(path, 2) == one
    assert all_records(path, 2, skip=7) == one[7:]


def test_what_a_killed_process_has_left_is_removed_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    left, held, new = (tmp_path / f"{records.PREFIX}{name}" for name in ("left", "held", "new"))
    for folder in (left, held, new):
        folder.mkdir()
        (folder / "0").write_bytes(b"pages")
    for folder in (left, held):
        os.utime(folder, (0, 0))
    lock = os.open(held, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    try:
        path = write(tmp_path / "d.xml.bz2", dump(PAGES))
        assert len(all_records(path, 2)) == len(PAGES)
    finally:
        os.close(lock)
    assert set(tmp_path.iterdir()) == {path, held, new}


def test_records_of_every_kind_come_back_from_another_process_as_they_went() -> None:
    page = "<title>{}</title><ns>{}</ns><id>1</id><revision><id>2</id><text>{}</text></revision>"
    prose = (
        "{{Infobox bird}}\nThe [[Razo lark|lark]] of Razo \U0001f426 is rare. [[Category:Larks]]"
    )
    xml = [
        page.format("Lark", 0, prose),
        page.format("Larks", 0, "#REDIRECT [[Lark]]"),
        page.format("Category:Larks", 14, "[[Category:Birds]]"),
        page.format("Talk:Lark", 1, "Hello."),
        "<title>Cut",
    ]
    reader = PageReader(Site(namespaces={"category": 14}))
    found = [reader.read(each.encode()) for each in xml]
    assert len({type(record) for record in found}) == 4
    back = unpack(pack(found))
    assert [(type(record), record) for record in back] == [(type(each), each) for each in found]


@pytest.mark.parametrize("processes", [1, 2])
def test_the_pages_before_a_damaged_place_come_first(processes: int, tmp_path: Path) -> None:
    whole = dump(PAGES)
    path = write(tmp_path / "d.xml", whole[: whole.index("<title>Page 10")])
    opened = Dump(path)
    found = []
    with pytest.raises(DumpError, match="after page 10"):  # noqa: PT012
        for batch in read_records(opened, opened.site, processes):
            found += batch
    assert [record[0] for record in found] == list(PAGES)[:10]


def test_a_batch_ends_at_its_bytes_or_its_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "BATCH_BYTES", 10)
    assert list(batches(iter([b"a" * 12, b"b", b"c", b"d", b"e", b"f"]))) == [
        [b"a" * 12],
        [b"b", b"c", b"d", b"e"],
        [b"f"],
    ]


def test_a_process_that_dies_is_one_clear_line() -> None:
    class Dying:
        def submit(self, *arguments: object) -> Future[list[Record]]:
            future: Future[list[Record]] = Future()
            future.set_exception(BrokenProcessPool())
            return future

    dying: Any = Dying()
    with pytest.raises(DumpError, match="fewer --processes"):
        list(records.unpacked(in_order(dying, lambda each: b"", iter([[b""]]), 1)))


def test_whoever_waits_does_what_comes_next_and_the_order_stays() -> None:
    handed_out: list[tuple[Future[str], int]] = []
    done_here = []

    class Slow:
        def submit(self, function: object, piece: int) -> Future[str]:
            handed_out.append((Future(), piece))
            return handed_out[-1][0]

    def do(piece: int) -> str:
        # The processes are done with all they have whenever a second piece was done here.
        done_here.append(piece)
        if len(done_here) % 2 == 0:
            for future, sent in handed_out:
                future.set_result(str(sent))
            handed_out.clear()
        return str(piece)

    slow: Any = Slow()
    helping = Helping(send=lambda piece: piece, do=do)
    assert list(in_order(slow, str, iter(range(8)), 2, helping)) == list("01234567")
    assert done_here == [2, 3, 6, 7]


def test_whoever_waits_keeps_no_more_than_twice_what_is_handed_out() -> None:
    taken = iter(range(100))
    first: Future[int] = Future()

    class Stuck:
        def submit(self, *arguments: object) -> Future[int]:
            return first

    def do(piece: int) -> int:
        if piece == 3:
            # The last that is kept.
            first.set_result(0)
        return piece

    stuck: Any = Stuck()
    results = in_order(stuck, int, taken, 2, Helping(send=int, do=do))
    assert next(results) == 0
    assert next(taken) == 4


def test_nothing_is_left_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "d.xml.bz2", dump(PAGES))
    between = tmp_path / "between"
    between.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(between))
    assert len(all_records(path, 2)) == 30
    opened = Dump(path)
    stopped = read_records(opened, opened.site, 2)
    assert [len(next(stopped)), len(next(stopped))] == [4, 4]
    assert any(between.iterdir())
    stopped.close()  # type: ignore[attr-defined]
    assert not any(between.iterdir())
