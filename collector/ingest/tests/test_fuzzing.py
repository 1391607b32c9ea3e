"""Whatever is changed in a file, it is read or named; the offsets of what is stored are true."""

import bz2
import random
from collections.abc import Iterable, Sequence
from io import StringIO
from itertools import islice
from pathlib import Path
from typing import Any

import orjson
import pytest
from django.core.management import CommandError, call_command

from collector.ingest.dump import Dump, parse_page
from collector.ingest.tests import dumps, fuzzing
from collector.models import Corpus

N_FILES, N_PAGES, N_BOOKS, N_DUMPS = 70, 60, 24, 24
N_PAGES_OF_DUMPS = 12
pytestmark = [pytest.mark.once, pytest.mark.django_db]


def test_changed_documents_end_no_import_and_leave_no_offset_wrong(
    tmp_path: Path, data: Path
) -> None:
    check_documents(fuzzing.originals(data, tmp_path), tmp_path / "files", random.Random(7))


def test_changed_pages_end_no_import_and_leave_no_offset_wrong(tmp_path: Path, data: Path) -> None:
    pages = Dump(data / "wiki" / "enwiki-rappers-eastcoast-2023.xml.bz2").pages()
    texts = [parse_page(xml).text.decode() for xml in islice(pages, N_PAGES)]
    check_pages(texts, tmp_path / "enwiki.xml", random.Random(7))


def test_changed_books_end_in_a_line_or_leave_no_offset_wrong(tmp_path: Path, data: Path) -> None:
    check_books(fuzzing.books(data, tmp_path), tmp_path, random.Random(7))


def test_changed_dumps_end_in_a_line_or_leave_no_offset_wrong(tmp_path: Path, data: Path) -> None:
    pages = Dump(data / "wiki" / "enwiki-rappers-eastcoast-2023.xml.bz2").pages()
    texts = [parse_page(xml).text.decode() for xml in islice(pages, N_PAGES_OF_DUMPS)]
    check_dumps(texts, tmp_path, random.Random(7))


def check_documents(originals: dict[str, list[bytes]], folder: Path, rng: random.Random) -> None:
    """Read changed documents; each is stored or named, and what is stored is true."""
    names = fuzzing.write_changed(folder, originals, N_FILES, rng)
    done, corpus = read("ingest_documents", [folder], "--language", "en")
    told = {name for name in names for line in done["left_out"] if line.startswith(name)}
    rows = {name for name in names if name.endswith(("jsonl", "csv", "zip"))}
    assert set(names) - rows <= told | set(done["added"])
    assert len(done["added"]) > N_FILES / 4
    assert [line for line in done["left_out"] if "its reader failed" in line] == []
    assert list(fuzzing.wrong_in(corpus)) == []


def check_pages(texts: Sequence[str], path: Path, rng: random.Random) -> None:
    """Read a dump of changed pages; what is stored is true."""
    changed = fuzzing.changed_pages(texts, rng)
    dump = dumps.dump({f"Page {number}": text for number, text in enumerate(changed)})
    _, corpus = read("ingest_dump", [dumps.write(path, dump)])
    assert corpus.articles.count() > N_PAGES / 2
    assert list(fuzzing.wrong_in(corpus)) == []


def check_dumps(texts: Sequence[str], folder: Path, rng: random.Random) -> None:
    """Read dumps that were changed, packed or not; each is true, also where it is refused."""
    whole = dumps.dump({f"Page {number}": text for number, text in enumerate(texts)}).encode()
    n_whole = 0
    for number in range(N_DUMPS):
        packed = rng.random() < 0.5
        content = whole if rng.random() < 0.3 else fuzzing.changed(whole, whole, rng)
        if packed:
            content = bz2.compress(content)
            content = content if rng.random() < 0.5 else fuzzing.changed(content, content, rng)
        path = folder / f"{number}.xml{'.bz2' if packed else ''}"
        path.write_bytes(content)
        refused = ""
        try:
            read("ingest_dump", [path])
        except CommandError as error:
            refused = str(error)
        assert "\n" not in refused
        n_whole += not refused
        for corpus in Corpus.objects.all():
            assert list(fuzzing.wrong_in(corpus)) == []
            corpus.delete()
    assert n_whole > N_DUMPS / 8


def check_books(originals: dict[str, list[bytes]], folder: Path, rng: random.Random) -> None:
    """Read changed books and tables one by one; each is stored and true, or refused in a line."""
    n_stored = 0
    for name in fuzzing.write_changed(folder, originals, N_BOOKS, rng):
        book = folder / ("original.txt" if name.endswith("csv") else name)
        tables = [folder / each for each in fuzzing.TABLES if rng.random() < 0.5]
        refused = ""
        try:
            _, corpus = read("ingest_books", dict.fromkeys([book, folder / name, *tables]))
        except CommandError as error:
            refused = str(error)
        assert "\n" not in refused
        assert Corpus.objects.exists() is not bool(refused)
        if refused:
            continue
        assert list(fuzzing.wrong_in_books(corpus, book.read_bytes())) == []
        corpus.delete()
        n_stored += 1
    assert n_stored >= N_BOOKS / 8


def read(command: str, paths: Iterable[Path], *more: str) -> tuple[dict[str, Any], Corpus]:
    """Return what the command says, and its corpus."""
    out = StringIO()
    options = ("--corpus", "changed", "--processes", "1", *more, "--json")
    call_command(command, *paths, *options, stdout=out)
    return orjson.loads(out.getvalue()), Corpus.objects.get(slug="changed")
