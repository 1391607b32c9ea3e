"""What a corpus's articles are known by: categories, infoboxes, and how many link to them."""

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import groupby, islice

from collector.ingest.link_resolution import Resolver
from collector.models import Article, ArticleCategory, Category, Corpus, Paragraph, Subcategory

CATEGORIES_AT_ONCE = 500
ARTICLES_AT_ONCE = 2000


def articles_in(corpus: Corpus, fits: Callable[[str], object], levels: int = 0) -> set[int]:
    """Return the ids of the articles in a category whose title `fits`.

    levels: how many levels of subcategories count too, as far as the corpus has the categories' own
    pages.
    """
    titles = Category.objects.filter(corpus=corpus).values_list("pk", "title")
    chosen = {pk for pk, title in titles.iterator() if fits(title)}
    last = chosen
    for _ in range(levels):
        last = _children(last) - chosen
        chosen |= last
    found: set[int] = set()
    for some in _in_pieces(chosen):
        rows = ArticleCategory.objects.filter(category_id__in=some, article__kind="article")
        found.update(rows.values_list("article_id", flat=True))
    return found


def _children(parents: set[int]) -> set[int]:
    """Return the ids of the categories right below these."""
    found: set[int] = set()
    for some in _in_pieces(parents):
        rows = Subcategory.objects.filter(parent_id__in=some)
        found.update(rows.values_list("child_id", flat=True))
    return found


def _in_pieces(ids: set[int]) -> Iterator[list[int]]:
    """Yield the ids in lists that fit into one statement."""
    ordered = sorted(ids)
    for start in range(0, len(ordered), CATEGORIES_AT_ONCE):
        yield ordered[start : start + CATEGORIES_AT_ONCE]


def articles_with(corpus: Corpus, fits: Callable[[str], object]) -> set[int]:
    """Return the ids of the articles with an infobox whose name, in lower case, `fits`."""
    articles = Article.objects.filter(corpus=corpus, kind="article").exclude(infoboxes=[])
    rows = articles.values_list("pk", "infoboxes")
    return {pk for pk, infoboxes in rows.iterator() if any(map(fits, infoboxes))}


def incoming_links(corpus: Corpus) -> Counter[int]:
    """Return by article id how many other articles link to it; redirects are followed.

    One pass over the whole corpus; what it remembers is a number for each linked article.
    """
    resolver = Resolver(corpus)
    counts: Counter[int] = Counter()
    outgoing = _outgoing(corpus)
    while batch := dict(islice(outgoing, ARTICLES_AT_ONCE)):
        ids = resolver.resolve(set().union(*batch.values()))
        for article, titles in batch.items():
            counts.update({ids[title] for title in titles if title in ids} - {article})
    return counts


def _outgoing(corpus: Corpus) -> Iterator[tuple[int, set[str]]]:
    """Yield each article's id with the titles that it links to."""
    rows = (
        Paragraph.objects.filter(article__corpus=corpus, n_links__gt=0)
        .order_by("article_id", "position")
        .values_list("article_id", "links")
    )
    for article, paragraphs in groupby(rows.iterator(), key=lambda row: row[0]):
        yield article, {title for _, links in paragraphs for _, _, title in links}
