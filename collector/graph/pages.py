"""The pages of a corpus in the order of its graph, each with its article's first paragraph."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from django.db.models import OuterRef, Subquery, TextField
from django.db.models.functions import Cast

from collector.models.corpus import Article, ArticleKind, Corpus, Paragraph, ParagraphKind

PAGES_AT_ONCE = 5000
LEAD = 0


class Page(NamedTuple):
    """An article or a redirect; `paragraph` is None where no running text begins the page."""

    page_id: int
    article: int
    title: str
    redirect_target: str
    paragraph: int | None


def first_paragraphs(corpus: Corpus) -> Iterator[list[Page]]:
    """Yield the articles that begin with running text, in batches, in the order of page ids.

    The first paragraph is the first of the lead that is no list item. Page ids come from the
    dump, so that the order is the same in every database.
    """
    for batch in pages(corpus):
        yield [page for page in batch if page.paragraph is not None]


def pages(corpus: Corpus) -> Iterator[list[Page]]:
    """Yield all articles and redirects in batches, in the order of page ids."""
    lead = Paragraph.objects.filter(
        article=OuterRef("pk"), kind=ParagraphKind.PARAGRAPH, section__position=LEAD
    ).order_by("position")
    rows = (
        Article.objects.filter(corpus=corpus)
        .exclude(kind=ArticleKind.DISAMBIGUATION)
        .annotate(first=Subquery(lead.values("pk")[:1]))
        .order_by("page_id")
        .values_list("page_id", "pk", "title", "redirect_target", "first")
    )
    last: int | None = None
    while True:
        onward = rows if last is None else rows.filter(page_id__gt=last)
        batch = [Page(*row) for row in onward[:PAGES_AT_ONCE]]
        if not batch:
            return
        yield batch
        last = batch[-1].page_id


def links_of(paragraphs: Sequence[int]) -> list[str]:
    """Return the links of each paragraph as JSON text, in the order of the ids given."""
    # As text: other processes decode it.
    rows = Paragraph.objects.filter(pk__in=paragraphs).annotate(packed=Cast("links", TextField()))
    found = dict(rows.values_list("pk", "packed"))
    return [found[pk] for pk in paragraphs]
