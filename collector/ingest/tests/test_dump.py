"""Dumps are streamed page by page; a bad page is told from a bad file."""

import bz2
import gzip
from pathlib import Path

import pytest

from collector.ingest import dump
from collector.ingest.dump import Dump, RawPage, parse_page, text_of
from collector.ingest.errors import DumpError, MalformedPage
from collector.ingest.tests.dumps import TAIL, head, page, write
from collector.ingest.tests.dumps import dump as dump_of

PAGES = {"Orla": "Deep & <b>wide</b>.", "Varn": 'A "valley".', "Tam": ""}


def read(path: Path) -> list[RawPage]:
    return [parse_page(xml) for xml in Dump(path).pages()]


@pytest.mark.parametrize("lbzip2", [True, False])
@pytest.mark.parametrize("suffix", [".xml", ".xml.bz2", ".xml.gz"])
def test_it_reads_every_packing(
    suffix: str, lbzip2: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not lbzip2:
        monkeypatch.setattr(dump.shutil, "which", lambda name: None)
    data = dump_of(PAGES).encode()
    packed = {".xml": data, ".xml.bz2": bz2.compress(data), ".xml.gz": gzip.compress(data)}
    path = tmp_path / f"d{suffix}"
    path.write_bytes(packed[suffix])
    pages = read(path)
    assert [(page.title, text_of(page.text)) for page in pages] == list(PAGES.items())
    assert pages[0][1:5] == (0, 1, "", 1001)
    assert pages[0].timestamp == "2024-05-06T07:08:09Z"


@pytest.mark.parametrize("pack", [bz2.compress, gzip.compress])
def test_streams_in_a_row_are_one_file(pack: object, tmp_path: Path) -> None:
    data = dump_of(PAGES).encode()
    path = tmp_path / "d"
    path.write_bytes(pack(data[:300]) + pack(data[300:]))  # type: ignore[operator]
    assert len(read(path)) == 3


def test_the_head_says_which_wiki_it_is(tmp_path: Path) -> None:
    path = write(tmp_path / "d.xml", dump_of(PAGES, lang="ar", file="ملف", category="تصنيف"))
    site = Dump(path).site
    assert (site.language, site.direction, site.name) == ("ar", "rtl", "Wikipedia")
    assert site.base_url == "https://ar.wikipedia.org/wiki/Main_Page"
    assert site.namespaces["ملف"] == 6


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"<html>404 not found</html>", "is not a MediaWiki XML export"),
        (dump_of(PAGES).encode("utf-16"), "is in UTF-16, and a wiki's dump is in UTF-8"),
        (
            dump_of(PAGES).encode("utf-16-be"),
            "is in UTF-16, and a wiki's dump is in UTF-8: convert",
        ),
        (b"", "is not a MediaWiki XML export"),
        (b"PK\x03\x04....", "is packed with ZIP; unpack it"),
        (b"BZh91AY&SYgarbage", "cut short or damaged; download it again"),
        (bz2.compress(dump_of(PAGES).encode())[:-20], "cut short or damaged"),
        (gzip.compress(dump_of(PAGES).encode())[:-20], "cut short or damaged"),
        (dump_of(PAGES)[:-30].encode(), "ends in the middle, after page 2; download it again"),
        (head().replace("</sitename>", "").encode() + b"<page>", "damaged <siteinfo>"),
    ],
)
@pytest.mark.parametrize("lbzip2", [True, False])
def test_a_file_that_cannot_be_read_gives_one_clear_line(
    data: bytes, sentence: str, lbzip2: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not lbzip2:
        monkeypatch.setattr(dump.shutil, "which", lambda name: None)
    path = tmp_path / "d.dump"
    path.write_bytes(data)
    with pytest.raises(DumpError, match=sentence) as raised:
        read(path)
    assert "\n" not in str(raised.value)
    assert "d.dump" in str(raised.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DumpError, match=r"none\.bz2: No such file or directory; check the path"):
        Dump(tmp_path / "none.bz2")


@pytest.mark.parametrize("pack", [bz2.compress, gzip.compress])
@pytest.mark.parametrize("filler", [b" ", b"<page></page>"])
def test_a_decompression_bomb_is_refused(
    pack: object, filler: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dump, "MIN_SUSPICIOUS_BYTES", 1 << 16)
    monkeypatch.setattr(dump, "MAX_RATIO", 20)
    path = tmp_path / "bomb"
    path.write_bytes(pack(head().encode() + filler * 400_000))  # type: ignore[operator]
    with pytest.raises(DumpError, match="inflates to more than 20 times its size"):
        list(Dump(path).pages())


def test_a_page_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dump, "MAX_PAGE_BYTES", 3 << 20)
    path = write(tmp_path / "d.xml", head() + page("Orla", "x", 1) + "<page>" + "y" * (4 << 20))
    with pytest.raises(DumpError, match="page 2 is larger than 3 MiB"):
        list(Dump(path).pages())


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("Deep", "<i>deep", "unescaped markup"),
        ("Deep", "a &nbsp; b", "unknown character reference &nbsp;"),
        ("Deep", "a & b", "unknown character reference &"),
        ("Deep", "&#E9;", "unknown character reference &#E9;"),
        ("Deep", "&#xD800;", "unknown character reference"),
        ("Deep", "\x01", "control characters"),
        ("<id>1</id>", "", "no id"),
        ("</text>", "", "no end"),
        ("<text", "<txt", "no revision with a text"),
        ("<title>Orla</title>", "", "no title"),
    ],
)
def test_a_malformed_page_says_what_is_wrong(old: str, new: str, reason: str) -> None:
    xml = page("Orla", "Deep", 1).replace(old, new)
    with pytest.raises(MalformedPage, match=reason):
        text_of(parse_page(xml.encode()).text)


def test_a_page_that_was_never_closed_costs_no_other_page(tmp_path: Path) -> None:
    cut = page("Cut", "x", 1).replace("</page>", "").replace("</text>", "")
    path = write(tmp_path / "d.xml", head() + cut + page("Orla", "Deep", 2) + TAIL)
    first, second = Dump(path).pages()
    with pytest.raises(MalformedPage):
        parse_page(first)
    assert parse_page(second).title == "Orla"


@pytest.mark.parametrize("chunk_bytes", [1, 6, 7, 100])
def test_pages_are_found_wherever_chunks_end(
    chunk_bytes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut = page("Cut", "x", 1).replace("</page>", "")
    path = write(tmp_path / "d.xml", head() + cut + page("Orla", "Deep", 2) + "\n" + TAIL)
    whole = list(Dump(path).pages())
    monkeypatch.setattr(dump, "CHUNK_BYTES", chunk_bytes)
    assert list(Dump(path).pages()) == whole
    assert [parse_page(xml).title for xml in whole] == ["Cut", "Orla"]


def test_of_a_history_the_last_revision_counts() -> None:
    xml = page("Orla", "old", 1)
    newer = xml[xml.index("<revision>") : xml.index("</page>")].replace("1001", "7")
    both = xml.replace("</page>", newer.replace("old", "new &#233;&#x1F600;") + "</page>")
    last = parse_page(both.encode())
    assert last[4:7] == (7, "2024-05-06T07:08:09Z", "wikitext")
    assert text_of(last.text) == "new é😀"


def test_every_end_of_a_line_is_one_character() -> None:
    written = page("Orla", "one\r\ntwo\rthree", 1)
    assert parse_page(written.encode()).text == b"one\ntwo\nthree"
    assert text_of(b"four&#13;five&#xD;six") == "four\nfive\nsix"


def test_an_empty_text_and_a_redirect_are_read() -> None:
    xml = page("Orla", "", 1).replace("<revision>", '<redirect title="A &amp; B" /><revision>')
    xml = xml.replace('xml:space="preserve"></text>', "/>")
    assert parse_page(xml.encode())[3] == "A & B"
    assert parse_page(xml.encode()).text == b""
