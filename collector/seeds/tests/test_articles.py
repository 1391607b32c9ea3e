"""Incoming links are counted by article, through redirects."""

import pytest

from collector.models import Article, Corpus, Paragraph, Section
from collector.seeds.articles import incoming_links

pytestmark = pytest.mark.django_db


def page(corpus: Corpus, title: str, *paragraphs: list[str], to: str = "") -> Article:
    """Return a page whose paragraphs link to these titles, or a redirect."""
    article = Article.objects.create(
        corpus=corpus,
        page_id=corpus.articles.count() + 1,
        title=title,
        kind="redirect" if to else "article",
        redirect_target=to,
        revision_id=1,
    )
    section = Section.objects.create(article=article, position=0, level=0)
    for position, titles in enumerate(paragraphs):
        Paragraph.objects.create(
            article=article,
            section=section,
            position=position,
            text="x" * 10,
            links=[[0, 1, title] for title in titles],
            n_links=len(set(titles)),
        )
    return article


def test_an_article_counts_once_however_often_and_by_whatever_name_it_links() -> None:
    corpus = Corpus.objects.create(slug="c", name="C", language="en")
    ada = page(corpus, "Ada", ["Ada", "Grace"])
    page(corpus, "Countess of Lovelace", to="Ada")
    page(corpus, "Grace", ["Ada", "Countess of Lovelace"], ["Ada", "Nobody"])
    page(corpus, "Mallory", ["Countess of Lovelace"])
    other = Corpus.objects.create(slug="d", name="D", language="en")
    page(other, "Rita", ["Ada"])
    counts = incoming_links(corpus)
    assert counts[ada.pk] == 2
    assert sum(counts.values()) == 3
