"""The articles behind the links of a release: the text an answerer read, with its links."""

from collections.abc import Iterable, Iterator
from itertools import islice

from annotation.models import OfficialArticle
from annotation.release.records_schema import ArticleRecord, SeedRecord
from collector.ingest.resolving import Resolver
from collector.models import Article, Collection, Corpus
from collector.models.corpus import CorpusKind
from tasks.work.articles import article_text

TITLES_PER_QUERY = 200


def linked_titles(seeds: Iterable[SeedRecord]) -> list[str]:
    """Return the titles that the seeds' passages link to, each once, sorted."""
    return sorted(
        {
            target
            for seed in seeds
            for passage in seed["passages"]
            for _, _, target in passage["links"]
        }
    )


def articles_of(collection: Collection, titles: Iterable[str]) -> Iterator[ArticleRecord]:
    """Yield what the links to `titles` show, in their order; a title without article is left out.

    A title that leads to an article through a redirect is an entry of its own, so that every
    link finds its text. Of published files all articles are yielded, as they were read.
    """
    if collection.corpus.kind == CorpusKind.IMPORTED:
        return _official(collection)
    return _linked(collection.corpus, titles)


def article_record(title: str, article: Article) -> ArticleRecord:
    """Return an article's plain text and links, under the `title` of a link that leads to it.

    Of two links that overlap the later one is left out.
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


def reached(corpus: Corpus, titles: Iterable[str]) -> Iterator[tuple[str, Article]]:
    """Yield (title, the article it leads to) as an answerer's links do, in few queries.

    In the order of `titles`; one that leads nowhere is left out.
    """
    iterator = iter(titles)
    while batch := list(islice(iterator, TITLES_PER_QUERY)):
        found = Resolver(corpus).resolve(batch)
        articles = Article.objects.select_related("corpus").in_bulk(set(found.values()))
        yield from ((title, articles[found[title]]) for title in batch if title in found)


def _linked(corpus: Corpus, titles: Iterable[str]) -> Iterator[ArticleRecord]:
    for title, article in reached(corpus, titles):
        yield article_record(title, article)


def _official(collection: Collection) -> Iterator[ArticleRecord]:
    for row in OfficialArticle.objects.filter(collection=collection).iterator():
        yield {"title": row.title, "text": "", "links": [], "imported": row.content}
