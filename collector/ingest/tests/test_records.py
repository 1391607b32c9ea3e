"""A page becomes a record, or the reason why it is none."""

from collector.ingest.dump import Site
from collector.ingest.records import (
    CategoryRecord,
    OtherRecord,
    PageReader,
    PageRecord,
    Record,
    SkippedRecord,
)
from collector.ingest.tests.dumps import page


def read(title: str, text: str, namespace: int = 0, model: str = "wikitext") -> Record:
    return PageReader(Site()).read(page(title, text, 1, namespace, model).encode())


def kind(title: str, text: str) -> str:
    record = read(title, text)
    assert isinstance(record, PageRecord)
    return record.kind


def test_pages_are_of_three_kinds() -> None:
    assert kind("Orla", "Deep.") == "article"
    assert kind("Orla", "#REDIRECT [[Lake Orla]]") == "redirect"
    assert kind("Orla", "May be:\n* [[Lake Orla]]\n{{disambiguation}}") == "disambiguation"
    assert kind("Orla (disambiguation)", "* [[Lake Orla]]") == "disambiguation"


def test_the_dumps_own_redirect_is_believed() -> None:
    xml = page("Orla", "#foo", 1).replace("<revision>", '<redirect title="Lake Orla" /><revision>')
    record = PageReader(Site()).read(xml.encode())
    assert isinstance(record, PageRecord)
    assert (record.kind, record.redirect_target, record.paragraphs) == ("redirect", "Lake Orla", [])


def test_lists_are_told_by_their_titles() -> None:
    record = read("List of lakes of Varn", "* [[Lake Orla]]")
    assert isinstance(record, PageRecord)
    assert record.is_list


def test_other_namespaces_are_counted_only() -> None:
    assert read("Template:Lakes", "x", namespace=10) == OtherRecord(10)


def test_of_a_categorys_page_its_categories_are_kept() -> None:
    text = "Lakes. {{x|[[Category:No]]}}\n[[Category:waters of_Varn|L]] [[Category:Waters of Varn]]"
    record = read("Category:lakes_of Varn", text, namespace=14)
    assert record == CategoryRecord("Lakes of Varn", ["Waters of Varn"])


def test_what_is_no_wikitext_is_skipped_with_its_title() -> None:
    assert read("Map", "{}", model="json") == SkippedRecord(
        "Map", "its content is json, not wikitext"
    )
    assert PageReader(Site()).read(b"<title>Cut</title>") == SkippedRecord(
        "Cut", "the page has no id"
    )
    assert PageReader(Site()).read(b"nothing") == SkippedRecord(
        "(no title)", "the page has no title"
    )


def test_what_cannot_be_decoded_is_one_pages_fault_unless_it_is_dropped() -> None:
    def read_with(old: str, new: bytes) -> Record:
        xml = page("Orla", "Deep<ref>note</ref>, wide.", 1).encode()
        return PageReader(Site()).read(xml.replace(old.encode(), new))

    assert read_with("Deep", b"\xff") == SkippedRecord("Orla", "not valid UTF-8")
    assert read_with("wide", b"&nbsp;") == SkippedRecord(
        "Orla", "an unknown character reference &nbsp;"
    )
    for damaged in (b"\xff", b"&nbsp;"):
        record = read_with("note", damaged)
        assert isinstance(record, PageRecord)
        assert record.paragraphs[0][2] == "Deep, wide."
