"""Reads the articles that links lead to as plain records: the full text with its links."""

from collections.abc import Iterable, Iterator
from itertools import islice

from annotation.records.schema import ArticleRecord
from collector.ingest.link_resolution import Resolver
from collector.models import Article, Corpus
from tasks.work.reading import article_text

TITLES_PER_QUERY = 200


def article_record(title: str, article: Article) -> ArticleRecord:
    """Return an article's plain text and links, under the `title` of a link that leads to it.

    If two links overlap, the later one is left out.
    """
    whole = article_text(article)
    links: list[tuple[int, int, str]] = []
    paragraphs = article.paragraphs.order_by("position").values_list("links", flat=True)
    for offset, of_paragraph in zip(whole.starts, paragraphs, strict=True):
        for start, end, target in of_paragraph:
            if not links or offset + start >= links[-1][1]:
                links.append((offset + start, offset + end, target))
    return {
        "title": title,
        "text": whole.text,
        "links": links,
        "imported": None,
        "article": article.title,
        "revision_id": article.revision_id,
        "permalink": article.revision_url(),
    }


def linked_articles(corpus: Corpus, titles: Iterable[str]) -> Iterator[tuple[str, Article]]:
    """Yield (title, article) in the order of `titles`, with a few queries per batch.

    Titles are resolved like the links that annotators see. A title that leads to no article is left
    out.
    """
    iterator = iter(titles)
    while batch := list(islice(iterator, TITLES_PER_QUERY)):
        found = Resolver(corpus).resolve(batch)
        articles = Article.objects.select_related("corpus", "document").in_bulk(set(found.values()))
        yield from ((title, articles[found[title]]) for title in batch if title in found)
