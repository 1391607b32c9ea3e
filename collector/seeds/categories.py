"""The articles of a corpus that are in categories of certain titles."""

from collections.abc import Callable, Iterator

from collector.models import ArticleCategory, Category, Corpus, Subcategory

CATEGORIES_AT_ONCE = 500


def articles_in(corpus: Corpus, fits: Callable[[str], object], levels: int = 0) -> set[int]:
    """Return the ids of the articles in a category whose title `fits`.

    levels: so many levels of subcategories count too, as far as the corpus has the categories' own
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
