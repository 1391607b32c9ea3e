"""The articles of a corpus whose infobox says what they are about."""

from collections.abc import Callable

from collector.models import Article, Corpus


def articles_with(corpus: Corpus, fits: Callable[[str], object]) -> set[int]:
    """Return the ids of the articles with an infobox whose name, in lower case, `fits`."""
    articles = Article.objects.filter(corpus=corpus, kind="article").exclude(infoboxes=[])
    rows = articles.values_list("pk", "infoboxes")
    return {pk for pk, infoboxes in rows.iterator() if any(map(fits, infoboxes))}
