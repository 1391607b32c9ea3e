"""A link is readable when, and only when, an article stands behind it."""

import pytest

from collector.models import Article
from tasks.models import Lease, Posting, Session, Unit
from tasks.tests.making import make_corpus, stage_of
from tasks.work.passages import find_article, readable_titles
from tasks.work.reading import documents_of

pytestmark = pytest.mark.django_db
TITLES = {"Place 1", "Through", "Gone", "Loop", "Meanings", "Nowhere"}


def add(corpus, title, **given):
    number = corpus.articles.count() + 1
    return Article.objects.create(
        corpus=corpus, page_id=number, title=title, revision_id=number, **given
    )


@pytest.fixture
def corpus():
    made = make_corpus(slug="linked")
    for title, target in (("Through", "Place 1"), ("Gone", "Nowhere"), ("Loop", "Loop")):
        add(made, title, kind="redirect", redirect_target=target)
    add(made, "Meanings", kind="disambiguation")
    return made


def test_what_is_promised_readable_can_be_opened_and_nothing_else(corpus):
    opened = {title for title in TITLES if find_article(corpus, title)}
    assert opened == readable_titles(corpus.pk, TITLES) == {"Place 1", "Through"}


def test_an_article_that_was_not_there_is_looked_for_again(collection):
    stage = stage_of(collection, "answer")
    lease = Lease(unit=Unit(stage=stage), session=Session(posting=Posting(stage=stage)))
    read = documents_of(lease, [{"id": "0", "passage": {"links": [{"title": "Late"}]}}])
    assert read("0", "Late") is None
    add(collection.corpus, "Late", kind="redirect", redirect_target="Place 1")
    assert "Place 1 was founded" in read("0", "Late")
