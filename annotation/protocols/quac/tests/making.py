"""Builds what tests of the protocol start from: people with sections, and a collection on them."""

from typing import Any

from collector.models import (
    Article,
    ArticleCategory,
    Category,
    Collection,
    Corpus,
    Paragraph,
    Section,
)
from collector.protocols.creation import create_collection
from collector.protocols.loading import get_protocol
from tasks.tests.making import NOW

LAX = {
    "pay.approve_after_hours": 0,
    "seeds.category_keywords": [],
    "seeds.min_incoming_links": 0,
    "seeds.min_tokens": 5,
    "seeds.min_words_per_sentence": 2,
    "student_qualification.items_per_hit": 1,
    "teacher_qualification.items_per_hit": 1,
}
LIFE = "She wrote long letters to many friends abroad. They answered every one of them."


def make_corpus() -> Corpus:
    """Return an empty corpus that can be collected from."""
    return Corpus.objects.create(slug="people", name="People", language="en", state="ready")


def make_person(corpus: Corpus, title: str, *texts: str, category: str = "1815 births") -> Article:
    """Return an article whose only section, Life, has these texts."""
    article = Article.objects.create(
        corpus=corpus, page_id=corpus.articles.count() + 1, title=title, revision_id=1
    )
    lead = Section.objects.create(article=article, position=0, level=0)
    life = Section.objects.create(article=article, position=1, level=2, heading="Life")
    for position, text in enumerate((f"{title} was a person.", *texts)):
        Paragraph.objects.create(
            article=article, section=life if position else lead, position=position, text=text
        )
    row, _ = Category.objects.get_or_create(corpus=corpus, title=category)
    ArticleCategory.objects.create(article=article, category=row)
    return article


def make_collection(corpus: Corpus, **overrides: Any) -> Collection:
    """Return a collection in state draft; `overrides` use __ for the dot."""
    dotted = {name.replace("__", "."): value for name, value in overrides.items()}
    return create_collection(
        "talks",
        get_protocol("quac"),
        corpus,
        overrides={**LAX, **dotted},
        seed=7,
        now=NOW,
        title="Talks",
        budget_cents=1_000_000,
        requester_name="Rita",
        requester_contact="rita@example.org",
    )
