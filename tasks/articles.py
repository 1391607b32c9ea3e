"""Linked articles as an answerer reads them: text alone, no tables, no images (IIRC 2.3)."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from collector.ingest.article_text import ArticleText, join_article
from collector.models import Article
from tasks.models import Lease
from tasks.passages import find_article, sentences_of

Documents = Callable[[str, str], str | None]


def article_text(article: Article) -> ArticleText:
    """Return the article's plain text, to which every stored span refers."""
    headings = dict(article.sections.values_list("position", "heading"))
    paragraphs = article.paragraphs.order_by("position").values_list("section__position", "text")
    return join_article(headings, paragraphs)


def article_page(lease: Lease, item_id: str, title: str) -> dict[str, Any] | None:
    """Return the article behind a link of the item's passage, in sections, or None.

    None too for a kind of stage whose workers must not see linked text, and for any title the
    passage does not link to.
    """
    article = _readable(lease, item_id, title)
    return _page(article.pk, title) if article else None


def documents_of(lease: Lease, items: list[dict[str, Any]]) -> Documents:
    """Return a function from (item id, article title) to the article's text, None if unreadable."""
    linked = {item["id"]: _titles(item) for item in items}

    def text(item_id: str, title: str) -> str | None:
        if title not in linked.get(item_id, ()):
            return None
        article = _readable(lease, item_id, title)
        return _text(article.pk) if article else None

    return text


@lru_cache(maxsize=512)
def _text(article_id: int) -> str:
    """Return an article's plain text; a corpus never changes, so texts are kept."""
    return article_text(Article.objects.get(pk=article_id)).text


def _titles(item: dict[str, Any]) -> set[str]:
    return {link["title"] for link in item.get("passage", {}).get("links", [])}


def _readable(lease: Lease, item_id: str, title: str) -> Article | None:
    if lease.unit.stage.kind != "answer" or not item_id.isascii() or not item_id.isdigit():
        return None
    item = lease.unit.items.filter(position=int(item_id)).first()
    if item is None or item.question is None:
        return None
    paragraph = item.question.seed.seed_paragraphs.all()[0].paragraph
    if title not in {target for _, _, target in paragraph.links}:
        return None
    return find_article(lease.unit.stage.collection.corpus, title)


@lru_cache(maxsize=512)
def _page(article_id: int, title: str) -> dict[str, Any]:
    """Return the article in sections; a corpus never changes, so pages are kept."""
    article = Article.objects.select_related("corpus").get(pk=article_id)
    whole = article_text(article)
    corpus = article.corpus
    by_section: dict[int, list[dict[str, Any]]] = {}
    rows = article.paragraphs.select_related("section").order_by("position")
    for paragraph, start in zip(rows, whole.starts, strict=True):
        by_section.setdefault(paragraph.section.position, []).append(
            {
                "start": start,
                "text": paragraph.text,
                "kind": paragraph.kind,
                "sentences": sentences_of(paragraph, corpus.language),
                "links": [],
            }
        )
    return {
        "title": title,
        "lang": corpus.language,
        "dir": corpus.direction,
        "sections": [
            {
                "heading": section.heading,
                "level": section.level,
                "paragraphs": by_section.get(section.position, []),
            }
            for section in article.sections.order_by("position")
        ],
    }
