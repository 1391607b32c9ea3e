"""How many articles of a corpus link to each: a measure of how well known its subject is."""

from collections import Counter
from collections.abc import Iterator
from itertools import groupby, islice

from collector.ingest.resolving import Resolver
from collector.models import Corpus, Paragraph

ARTICLES_AT_ONCE = 2000


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
