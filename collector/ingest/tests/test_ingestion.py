"""Dump files become rows once, from wherever their reading stopped."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from collector.ingest import records, store
from collector.ingest.errors import DumpError
from collector.ingest.ingestion import CorpusOptions, ingest_files
from collector.ingest.store import AlreadyReading, store_records
from collector.ingest.tests.dumps import TAIL, dump, head, page, write
from collector.models import (
    Article,
    Category,
    Collection,
    Corpus,
    DumpFile,
    Paragraph,
    Section,
    SkippedPage,
    Subcategory,
)

pytestmark = pytest.mark.django_db

PAGES = {
    "Lake Orla": "{{Infobox lake}}\n'''Lake Orla''' lies in [[Varn]] near [[Old Tam|Tam]].\n\n"
    "== Name ==\n[[Varn]].",
    "Varn": "Varn is a [[valley]].\n[[Category:Valleys]]",
    "Old Tam": "#REDIRECT [[Tam]]",
    "Tam": "A town. [[Lake Orla]]",
    "Orla": "'''Orla''' may be:\n* [[Lake Orla]]\n{{disambig}}",
}
NOW = datetime(2026, 3, 2, tzinfo=UTC)
OPTIONS = CorpusOptions(slug="invented")


def test_it_stores_articles_with_sections_paragraphs_links_and_categories(tmp_path: Path) -> None:
    valleys = page("Category:Valleys", "[[Category:Landforms]]", 9, namespace=14)
    xml = dump(PAGES).replace(TAIL, valleys + TAIL)
    corpus = ingest_files([write(tmp_path / "d.xml.bz2", xml)], OPTIONS)
    lake = Article.objects.get(corpus=corpus, title="Lake Orla")
    first, second = Paragraph.objects.filter(article=lake)
    assert (corpus.state, corpus.language, corpus.direction) == ("ready", "en", "ltr")
    assert [each.heading for each in Section.objects.filter(article=lake)] == ["", "Name"]
    assert first.text == "Lake Orla lies in Varn near Tam."
    assert [first.text[start:end] for start, end, _ in first.links] == ["Varn", "Tam"]
    assert [target for _, _, target in first.links] == ["Varn", "Old Tam"]
    # Both are in the corpus, one through a redirect.
    assert (first.n_links, first.n_links_in_corpus) == (2, 2)
    assert second.section.heading == "Name"
    assert Article.objects.get(title="Old Tam").redirect_target == "Tam"
    assert Article.objects.get(title="Orla").kind == "disambiguation"
    assert lake.infoboxes == ["infobox lake"]
    assert set(Category.objects.values_list("title", flat=True)) == {"Valleys", "Landforms"}
    (below,) = Subcategory.objects.all()
    assert (below.parent.title, below.child.title) == ("Landforms", "Valleys")


def test_reading_a_file_twice_adds_nothing(tmp_path: Path) -> None:
    path = write(tmp_path / "d.xml", dump(PAGES))
    ingest_files([path], OPTIONS)
    before = list(Paragraph.objects.values_list("id", "text"))
    ingest_files([path], OPTIONS)
    assert list(Paragraph.objects.values_list("id", "text")) == before


def test_it_goes_on_after_the_last_page_of_a_file_that_was_cut_short(tmp_path: Path) -> None:
    whole = dump(PAGES)
    path = write(tmp_path / "d.xml", whole[: whole.index("<title>Tam")])
    with pytest.raises(DumpError, match=r"d\.xml ends in the middle, after page 3"):
        ingest_files([path], OPTIONS)
    assert Corpus.objects.get().state == "failed"
    assert Article.objects.count() == 3
    write(path, whole)
    assert ingest_files([path], OPTIONS).state == "ready"
    assert Article.objects.count() == 5


def rows() -> list[tuple[object, ...]]:
    return list(
        Paragraph.objects.order_by("article__title", "position").values_list(
            "article__title", "section__heading", "text", "links", "n_links_in_corpus"
        )
    )


def test_stopped_between_any_two_statements_it_ends_as_if_never_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "BATCH_PAGES", 1)
    path = write(tmp_path / "d.xml", dump(PAGES))
    ingest_files([path], CorpusOptions(slug="whole"))
    whole = rows()
    Corpus.objects.all().delete()
    insert = store.insert_rows
    for n in range(1, 30):

        def stop(*arguments: object, _left: list[int] = [n], **options: object) -> None:  # noqa: B006
            _left[0] -= 1
            if not _left[0]:
                raise InterruptedError
            insert(*arguments, **options)  # type: ignore[arg-type]

        with monkeypatch.context() as patch:
            patch.setattr(store, "insert_rows", stop)
            try:
                ingest_files([path], OPTIONS)
            except InterruptedError:
                assert DumpFile.objects.get().pages_done == Article.objects.count()
                continue
        break
    assert rows() == whole


def test_two_readers_of_one_file_do_not_store_a_page_twice(tmp_path: Path) -> None:
    ingest_files([write(tmp_path / "d.xml", dump(PAGES))], OPTIONS)
    late = DumpFile.objects.get()
    late.pages_done = 2
    with pytest.raises(AlreadyReading, match=r"another process is reading d\.xml"):
        store_records(late, [])
    assert Article.objects.count() == len(PAGES)


def test_a_page_that_cannot_be_read_is_counted_and_named(tmp_path: Path) -> None:
    broken = page("Bad", "x", 7).replace(">x<", "><b>x</b> & y<")
    pages = page("A", "Text.", 1) + broken + page("A", "Again.", 2) + page("S", "{}", 3, 0, "json")
    corpus = ingest_files([write(tmp_path / "d.xml", head() + pages + "</mediawiki>")], OPTIONS)
    assert corpus.counts["articles"] == 1
    assert list(SkippedPage.objects.values_list("title", "reason")) == [
        ("Bad", "unescaped markup in the page's text"),
        ("S", "its content is json, not wikitext"),
        ("A", "the corpus has a page of that title"),
    ]


def test_another_file_of_the_same_name_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "d.xml", dump(PAGES))
    ingest_files([path], OPTIONS)
    write(path, dump({"Else": "Text."}))
    with pytest.raises(DumpError, match="differs from the file of that name"):
        ingest_files([path], OPTIONS)


def test_a_corpus_that_a_collection_uses_stays_as_it_is(tmp_path: Path) -> None:
    first = write(tmp_path / "1.xml", dump(PAGES))
    corpus = ingest_files([first], OPTIONS)
    Collection.objects.create(
        slug="pilot",
        protocol="iirc",
        protocol_version=1,
        corpus=corpus,
        parameters={},
        random_seed=1,
        created_at=NOW,
    )
    second = write(
        tmp_path / "2.xml", dump({"Gone": "A lake."}).replace("<id>1</id>", "<id>9</id>")
    )
    with pytest.raises(DumpError, match="The collection pilot uses the corpus invented"):
        ingest_files([second], OPTIONS)
    corpus.refresh_from_db()
    assert (corpus.state, corpus.dump_files.count()) == ("ready", 1)
    assert ingest_files([first], OPTIONS) == corpus
