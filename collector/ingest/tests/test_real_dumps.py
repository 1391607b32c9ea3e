"""What must hold on real dumps, read from the folder named by COLLECTOR_DATA."""

import os
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice
from pathlib import Path

import pytest

from collector.ingest.dump import Dump, parse_page, text_of
from collector.ingest.ingestion import CorpusOptions, ingest_files
from collector.ingest.records import (
    CategoryRecord,
    OtherRecord,
    PageReader,
    PageRecord,
    SkippedRecord,
)
from collector.ingest.tests.reference import prose_links
from collector.ingest.wikitext import Wikitext
from collector.models import Article, Paragraph

DATA = os.environ.get("COLLECTOR_DATA")
pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(not DATA, reason="COLLECTOR_DATA names no folder of real data"),
]
WIKI = Path(DATA or ".") / "wiki"
ROCK = "enwiki-rock-performers-2025.xml.bz2"
MIXED = "enwiki-mixed-A-2016.xml.bz2"
RAPPERS = "enwiki-rappers-eastcoast-2023.xml.bz2"
LATGALIAN = "ltgwiki-complete-pages-articles.xml.bz2"
CLOSED = "aawiki-20260101-pages-meta-current.xml.bz2"
# Larger files of the same kind: read whole by `make rehearse`.
LARGER = [pytest.param(name, marks=pytest.mark.long) for name in (ROCK, MIXED)]
RESIDUE = ("{{", "}}", "[[", "]]", "{|", "|}", "<ref ", "<ref>", "</ref", "<br", "&nbsp;", "thumb|")


@dataclass
class Found:
    """What one file gave."""

    kinds: Counter[str] = field(default_factory=Counter)
    skipped: list[SkippedRecord] = field(default_factory=list)
    residue: list[tuple[str, str]] = field(default_factory=list)
    categories: set[str] = field(default_factory=set)
    n_pages: int = 0
    n_prose: int = 0
    n_links: int = 0
    n_with_ten_links: int = 0


@lru_cache
def read(name: str, language: str = "") -> Found:
    """Read a whole file with the pure parser, checking every offset."""
    dump = Dump(WIKI / name)
    reader = PageReader(replace(dump.site, language=language) if language else dump.site)
    found = Found()
    for xml in dump.pages():
        found.n_pages += 1
        record = reader.read(xml)
        if isinstance(record, SkippedRecord):
            found.skipped.append(record)
        elif isinstance(record, OtherRecord | CategoryRecord):
            found.kinds["other"] += 1
        else:
            found.kinds[record.kind] += 1
            add(found, record)
    return found


def add(found: Found, record: PageRecord) -> None:
    found.categories.update(record.categories)
    for section, kind, text, links in record.paragraphs:
        assert text == text.strip() != ""
        assert section < len(record.sections)
        for start, end, target in links:
            assert 0 <= start < end <= len(text), record.title
            assert text[start:end].strip() == text[start:end], record.title
            assert target
        found.residue += [(record.title, text) for mark in RESIDUE if mark in text]
        if kind == "paragraph":
            found.n_prose += 1
            found.n_links += len(links)
            found.n_with_ten_links += len({target for _, _, target in links}) >= 10


@pytest.mark.parametrize(
    ("name", "articles", "redirects", "others"),
    [
        pytest.param(ROCK, 489, 0, 0, marks=pytest.mark.long),
        pytest.param(MIXED, 1492, 27, 0, marks=pytest.mark.long),
        (RAPPERS, 446, 1, 0),
        (LATGALIAN, 903, 147, 0),
    ],
)
def test_every_page_is_read(name: str, articles: int, redirects: int, others: int) -> None:
    found = read(name)
    assert found.kinds["article"] + found.kinds["disambiguation"] == articles
    assert found.kinds["redirect"] == redirects
    assert found.kinds.total() + len(found.skipped) == found.n_pages
    assert found.skipped == []


def test_a_closed_wiki_has_hardly_an_article() -> None:
    found = read(CLOSED)
    assert (found.kinds["article"], found.kinds["redirect"], found.n_pages) == (1, 1, 507)


def test_every_page_of_every_language_is_read() -> None:
    files = sorted((WIKI / "minidumps").glob("*.xml.bz2"))
    assert len(files) == 122
    n_pages = 0
    for path in files:
        found = read(f"minidumps/{path.name}", path.name.partition(".")[0])
        assert found.kinds.total() == found.n_pages
        assert found.residue == []
        n_pages += found.n_pages
    assert n_pages == 159


@pytest.mark.parametrize("name", [*LARGER, RAPPERS, LATGALIAN])
def test_no_markup_is_left_in_any_paragraph(name: str) -> None:
    assert read(name).residue == []


@pytest.mark.parametrize(
    ("name", "n_links", "n_with_ten_links", "n_categories"),
    [
        pytest.param(ROCK, 119_209, 3116, 4039, marks=pytest.mark.long),
        pytest.param(MIXED, 164_781, 3354, 8780, marks=pytest.mark.long),
        (RAPPERS, 28_926, 731, 1601),
    ],
)
def test_the_totals_are_near_an_independent_count(
    name: str, n_links: int, n_with_ten_links: int, n_categories: int
) -> None:
    # That count took lines of 80 characters or more, without what phrases such as {{nowrap}} say.
    found = read(name)
    assert found.n_links == pytest.approx(n_links, rel=0.02)
    assert found.n_with_ten_links == pytest.approx(n_with_ten_links, rel=0.035)
    assert len(found.categories) == pytest.approx(n_categories, rel=0.005)


@pytest.mark.parametrize(
    ("name", "step"),
    [
        pytest.param(ROCK, 60, marks=pytest.mark.long),
        pytest.param(MIXED, 80, marks=pytest.mark.long),
        (RAPPERS, 30),
    ],
)
def test_links_and_what_they_say_are_those_of_mwparserfromhell(name: str, step: int) -> None:
    dump = Dump(WIKI / name)
    wikitext = Wikitext(dump.site, phrases=False)
    common = extra = missing = 0
    for xml in islice(dump.pages(), 7, None, step):
        text = parse_page(xml).text
        if wikitext.redirect(text):
            continue
        expected = prose_links(text_of(text), wikitext.titles)
        ours = Counter(
            (shown[start:end], title)
            for _, kind, shown, links in wikitext.parse(text).paragraphs
            if kind == "paragraph"
            for start, end, title in links
        )
        common += (expected & ours).total()
        extra += (ours - expected).total()
        missing += (expected - ours).total()
    assert common > 500
    assert common / (common + extra) >= 0.999
    assert common / (common + missing) >= 0.995


@pytest.mark.once
@pytest.mark.django_db
def test_the_slice_has_637_seeds_give_or_take_a_line() -> None:
    corpus = ingest_files([WIKI / ROCK], CorpusOptions(slug="rock"), processes=1)
    assert (corpus.state, corpus.licence_name) == ("ready", "CC BY-SA 4.0")
    assert Article.objects.filter(corpus=corpus).count() == 489
    seeds = Paragraph.objects.filter(
        article__corpus=corpus, kind="paragraph", n_links__gte=10, n_links_in_corpus__gte=3
    )
    assert abs(seeds.count() - 637) <= 3
