"""Linked articles are the text an answerer read, under every title that leads to them."""

from itertools import pairwise

import pytest

from annotation.decisions.records import records
from annotation.protocols.iirc.tests.island import TEXTS, island
from annotation.records.articles import article_record, linked_articles
from annotation.release.articles import (
    articles_of,
    attribution_lines,
    licence_text,
    linked_titles,
)
from annotation.tests.making import (
    make_article,
    make_collection,
    make_corpus,
    make_question,
    make_seed,
)
from collector.models import Document, Paragraph
from collector.models.corpus import CorpusKind
from tasks.work.passages import find_article, readable_titles
from tasks.work.reading import article_text

pytestmark = pytest.mark.django_db


def test_every_link_that_leads_somewhere_finds_its_text() -> None:
    collection = island()
    titles = linked_titles(records(collection))
    assert titles == ["Hollin", "Ida Brook", "Marle < Ost", "Port Ellan", "The island"]
    found = {article["title"]: article for article in articles_of(collection, titles)}
    assert list(found) == ["Hollin", "Ida Brook", "Port Ellan", "The island"]
    assert found["The island"]["text"] == found["Hollin"]["text"] == TEXTS["Hollin"]
    assert found["The island"]["article"] == "Hollin"
    assert found["The island"]["permalink"] == found["Hollin"]["permalink"]


def test_links_are_true_in_the_joined_text_and_never_overlap() -> None:
    corpus = make_corpus()
    article = make_article(
        corpus,
        "Marle",
        ("Marle lies off Hollin.", [[15, 21, "Hollin"]]),
        ("🙂 Old Mill Road", [[2, 10, "Old Mill"], [6, 15, "Mill Road"], [11, 15, "Road"]]),
    )
    record = article_record("Marle", article)
    assert record["text"] == article_text(article).text
    assert [(record["text"][start:end], target) for start, end, target in record["links"]] == [
        ("Hollin", "Hollin"),
        ("Old Mill", "Old Mill"),
        ("Road", "Road"),
    ]


def test_titles_lead_where_an_answerer_was_led() -> None:
    corpus = make_corpus()
    make_article(corpus, "Marle", "Marle is a rock.")
    make_article(corpus, "Meanings", "Marle may be:", kind="disambiguation")
    chain = ["A", "B", "C", "D", "E", "F", "Marle"]
    for title, target in [*pairwise(chain), ("Loop", "Loop"), ("X", "Gone")]:
        make_article(corpus, title, kind="redirect", redirect_target=target)
    titles = ["Nowhere", "Meanings", "X", "Loop", *chain]
    found = dict(linked_articles(corpus, titles))
    assert found == {
        title: article for title in titles if (article := find_article(corpus, title)) is not None
    }
    assert list(found) == ["C", "D", "E", "F", "Marle"]
    assert readable_titles(corpus.pk, set(titles)) == set(found)


def test_ids_addresses_licences_and_pages_of_own_documents_survive() -> None:
    corpus = make_corpus(kind=CorpusKind.DOCUMENTS, slug="handbook")
    collection = make_collection(corpus)
    for number, title in enumerate(("Lamp", "Tower")):
        article = make_article(corpus, title, (f"The {title}.", [[4, 4 + len(title), "Tower"]]))
        Document.objects.create(
            corpus=corpus,
            article=article,
            external_id=f"doc-{number}",
            format="pdf",
            file_name="all.pdf",
            sha256="0" * 64,
            url=f"https://quarn.example/{number}",
            licence="CC BY 4.0",
            n_pages=3,
        )
    Paragraph.objects.filter(article__title="Lamp").update(pages=[[0, 2], [5, 3]])
    make_question(make_seed(collection, Paragraph.objects.get(article__title="Lamp")))
    (record,) = records(collection)
    (passage,) = record["passages"]
    assert (passage["document"], passage["licence"]) == ("doc-0", "CC BY 4.0")
    assert passage["pages"] == [(0, 2), (5, 3)]
    assert b"".join(attribution_lines(corpus, [record])).decode() == (
        "title,id,url,licence,used_as\n"
        "Lamp,doc-0,https://quarn.example/0,CC BY 4.0,passage\n"
        "Tower,doc-1,https://quarn.example/1,CC BY 4.0,linked article\n"
    )
    assert "The id of each document" in licence_text(collection)
