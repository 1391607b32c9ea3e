"""Linked articles as an answerer reads them: text alone, no tables, no images (IIRC 2.3)."""

from collections.abc import Callable, Sequence
from typing import Any

import orjson

from collector.ingest.article_text import ArticleText, join_article
from collector.models import Article, Corpus, Paragraph
from common.committed_cache import kept_once_committed
from tasks.models import Lease
from tasks.work.cited_passages import (
    neighbours_of,
    paragraph_of,
    passages,
    text_of,
    with_tokens,
)
from tasks.work.kinds.kind import Documents, Item
from tasks.work.kinds.registry import kind_of
from tasks.work.passages import find_article, with_sentences


def article_text(article: Article) -> ArticleText:
    """Return the article's plain text, to which every stored span refers."""
    headings = dict(article.sections.values_list("position", "heading"))
    paragraphs = article.paragraphs.order_by("position").values_list("section__position", "text")
    return join_article(headings, paragraphs)


def article_page(lease: Lease, items: Sequence[Item], item_id: str, title: str) -> bytes | None:
    """Return the article behind a link of the item's passage as JSON, in sections, or None.

    None too for a kind of stage whose workers must not see linked text, and for any title the
    passage does not link to. Where workers search the corpus it is the passage of this name.
    """
    if kind_of(lease.unit.stage).searches:
        passage = _passage(lease, item_id, title, items)
        return _passage_page(passage) if passage else None
    article = _reader(lease, items)(item_id, title)
    return _page(article, title) if article else None


def documents_of(lease: Lease, items: Sequence[Item]) -> Documents:
    """Return a function from (item id, article title) to the article's text, None if unreadable.

    Where workers search the corpus it is from (item id, name of a passage) to that one's text.
    """
    if kind_of(lease.unit.stage).searches:
        return lambda item_id, name: _passage_text(_passage(lease, item_id, name, items))
    find = _reader(lease, items)

    def text(item_id: str, title: str) -> str | None:
        article = find(item_id, title)
        return _text(article) if article else None

    return text


def _reader(lease: Lease, items: Sequence[Item]) -> Callable[[str, str], int | None]:
    """Return a function from (item id, article title) to the id of an article to be read."""
    stage = lease.unit.stage
    linked = kind_of(stage).readable_links(items)

    def find(item_id: str, title: str) -> int | None:
        if title not in linked.get(item_id, ()):
            return None
        try:
            return _article_id(stage.collection.corpus_id, title)
        except Article.DoesNotExist:
            return None

    return find


def _passage(lease: Lease, item_id: str, name: str, items: Sequence[Item]) -> int | None:
    """Return the row id of a passage of the collection's corpus, None if there is none."""
    if all(item["id"] != item_id for item in items):
        return None
    try:
        return paragraph_of(lease.unit.stage.collection.corpus_id, name)
    except Paragraph.DoesNotExist:
        return None


def _passage_text(paragraph: int | None) -> str | None:
    return None if paragraph is None else text_of(paragraph)


@kept_once_committed(2048)
def _passage_page(paragraph: int) -> bytes:
    """Return a passage as it is read and marked, and whether others stand around it."""
    [passage] = passages([paragraph]).values()
    return orjson.dumps({**with_tokens(passage), **neighbours_of(paragraph)})


@kept_once_committed(8192)
def _article_id(corpus_id: int, title: str) -> int:
    """Return which article a link leads to; raises Article.DoesNotExist, which is not kept."""
    article = find_article(Corpus(pk=corpus_id), title)
    if article is None:
        raise Article.DoesNotExist(f"No article stands behind {title!r}.")
    return article.pk


@kept_once_committed(512)
def _text(article_id: int) -> str:
    """Return an article's plain text, kept: what has been read in never changes."""
    return article_text(Article.objects.get(pk=article_id)).text


@kept_once_committed(512)
def _page(article_id: int, title: str) -> bytes:
    """Return the article in sections, kept: what has been read in never changes."""
    article = Article.objects.select_related("corpus").get(pk=article_id)
    whole = article_text(article)
    corpus = article.corpus
    by_section: dict[int, list[dict[str, Any]]] = {}
    rows = list(article.paragraphs.select_related("section").order_by("position"))
    with_sentences(rows, corpus.language)
    for paragraph, start in zip(rows, whole.starts, strict=True):
        by_section.setdefault(paragraph.section.position, []).append(
            {
                "start": start,
                "text": paragraph.text,
                "kind": paragraph.kind,
                "sentences": paragraph.sentences,
                "links": [],
            }
        )
    page = {
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
    return orjson.dumps(page)
