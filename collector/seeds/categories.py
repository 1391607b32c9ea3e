"""The articles of a corpus that are in categories of certain titles."""

from collections.abc import Callable

from collector.models import ArticleCategory, Category, Corpus

CATEGORIES_AT_ONCE = 500


def articles_in(corpus: Corpus, fits: Callable[[str], object]) -> set[int]:
    """Return the ids of the articles in a category whose title `fits`."""
    titles = Category.objects.filter(corpus=corpus).values_list("pk", "title")
    chosen = [pk for pk, title in titles.iterator() if fits(title)]
    found: set[int] = set()
    for start in range(0, len(chosen), CATEGORIES_AT_ONCE):
        rows = ArticleCategory.objects.filter(
            category_id__in=chosen[start : start + CATEGORIES_AT_ONCE], article__kind="article"
        )
        found.update(rows.values_list("article_id", flat=True))
    return found
