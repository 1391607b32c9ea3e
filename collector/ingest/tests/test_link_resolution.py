"""Links are followed through redirects to articles of the same corpus."""

from pathlib import Path

import pytest

from collector.ingest.ingestion import CorpusOptions, ingest_files
from collector.ingest.link_resolution import Resolver, resolve_links
from collector.ingest.tests.dumps import dump, write
from collector.models import Article, Paragraph

pytestmark = pytest.mark.django_db

PAGES = {
    "Orla": "[[Varn]] [[Old Varn]] [[Tam]] [[Far]] [[Orla]] [[Loop]] [[Missing]]",
    "Varn": "A valley.",
    "Old Varn": "#REDIRECT [[Varn]]",
    "Tam": "Tam may be:\n{{disambig}}",
    "Far": "#REDIRECT [[Near]]",
    "Near": "#REDIRECT [[Here]]",
    "Here": "A place.",
    "Loop": "#REDIRECT [[Pool]]",
    "Pool": "#REDIRECT [[Loop]]",
}


def test_it_counts_distinct_articles_other_than_the_own(tmp_path: Path) -> None:
    corpus = ingest_files([write(tmp_path / "d.xml", dump(PAGES))], CorpusOptions(slug="c"))
    ids = dict(Article.objects.values_list("title", "id"))
    assert Resolver(corpus).resolve(PAGES) == {
        "Orla": ids["Orla"],
        "Varn": ids["Varn"],
        "Old Varn": ids["Varn"],
        "Far": ids["Here"],
        "Near": ids["Here"],
        "Here": ids["Here"],
    }
    paragraph = Paragraph.objects.get(article_id=ids["Orla"])
    assert (paragraph.n_links, paragraph.n_links_in_corpus) == (7, 2)
    assert resolve_links(corpus) == 0


def test_a_second_file_brings_targets_for_the_first(tmp_path: Path) -> None:
    first = write(tmp_path / "1.xml", dump({"Orla": "See [[Varn]]."}))
    options = CorpusOptions(slug="c")
    ingest_files([first], options)
    assert Paragraph.objects.get(text="See Varn.").n_links_in_corpus == 0
    second = dump({"Varn": "A valley."}).replace("<id>1</id>", "<id>2</id>")
    ingest_files([first, write(tmp_path / "2.xml", second)], options)
    assert Paragraph.objects.get(text="See Varn.").n_links_in_corpus == 1
