"""What workers read beside their items: linked articles, and passages found by search."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import orjson

from collector.ingest.article_text import ArticleText, join_article
from collector.models import Article, Corpus, Paragraph, Stage
from collector.protocols.creation import parameters_of
from collector.protocols.stage_tables import SearchAnswerTable
from collector.retrieval.passages import search
from collector.retrieval.terms import has_unparted, terms
from common.committed_cache import kept_once_committed
from tasks.models import Lease
from tasks.work.kinds.kind import Documents, Item, table_as
from tasks.work.kinds.registry import kind_of
from tasks.work.passages import (
    find_article,
    neighbours_of,
    paragraph_of,
    text_of,
    with_sentences,
    with_tokens,
)
from tasks.work.passages import passages_by_id as passages

# As long as three lines beside a search box.
SNIPPET_CHARACTERS = 220
# How much of a snippet stands before the words that were looked for.
LEAD = 60
MOST_CHARACTERS = 1_000
# With the points and accents on its letters.
_WORD = re.compile(
    r"\w(?:\w|[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed])*"
)


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


def results_of(stage: Stage, query: str) -> list[dict[str, Any]]:
    """Return the passages of the corpus that have the query's words, the best first.

    Each has the name under which it is cited, its title, section and page, and a snippet with
    what of it was looked for. Raises RetrievalError where the corpus cannot be searched.
    """
    collection, query = stage.collection, query.strip()
    table = table_as(parameters_of(collection).stages()[stage.name], SearchAnswerTable)
    corpus = Corpus.objects.get(pk=collection.corpus_id)
    query = query[:MOST_CHARACTERS]
    found = search(corpus, query, table.results_per_search) if query else []
    known = passages(hit.paragraph_id for hit in found)
    return [_result(known[hit.paragraph_id], query) for hit in found if hit.paragraph_id in known]


def _result(passage: Mapping[str, Any], query: str) -> dict[str, Any]:
    told = {name: value for name, value in passage.items() if name != "text"}
    return {**told, **snippet(str(passage["text"]), query)}


def snippet(text: str, query: str) -> dict[str, Any]:
    """Return {"snippet", "hits"}: a piece of the text, and [start, end] of the query's words in it.

    The piece begins a little before the first of these words, where a word begins.
    """
    hits = _hits(text, query)
    start = max(0, hits[0][0] - LEAD) if hits else 0
    start = _edge(text, start)
    end = min(len(text), start + SNIPPET_CHARACTERS)
    before, behind = "… " * (start > 0), " …" * (end < len(text))
    shift = len(before) - start
    return {
        "snippet": f"{before}{text[start:end]}{behind}",
        "hits": [[at + shift, to + shift] for at, to in hits if start <= at and to <= end],
    }


def _hits(text: str, query: str) -> list[tuple[int, int]]:
    """Return where the query's words begin words of a text, alike by what passages are found by:

    whatever accents, points and forms of letters they are written with there.
    """
    words = sorted({word.lower() for word in _WORD.findall(query)}, key=len, reverse=True)
    looked_for = re.compile("|".join(map(re.escape, words)) or r"(?!)", re.IGNORECASE)
    hits = [hit.span() for hit in looked_for.finditer(text) if _begins_a_word(text, *hit.span())]
    if text.isascii():
        return hits
    wanted, begun = set(terms(query)), {start for start, _ in hits}
    for word in _WORD.finditer(text):
        if word[0].isascii() or word.start() in begun or has_unparted(word[0]):
            continue
        if not wanted.isdisjoint(_terms(word[0])):
            hits.append(word.span())
    return sorted(hits)


def _begins_a_word(text: str, start: int, end: int) -> bool:
    """Return whether a match begins where a word does, or has a script that parts no words."""
    return start == 0 or not text[start - 1].isalnum() or has_unparted(text[start])


@lru_cache(20_000)
def _terms(word: str) -> tuple[str, ...]:
    """Return a word's terms; most words of a text come again and again."""
    return tuple(terms(word))


def _edge(text: str, start: int) -> int:
    """Return where a word begins, at a place of the text or soon behind it."""
    if start == 0:
        return 0
    blank = text.find(" ", start, start + LEAD)
    return start if blank < 0 else blank + 1
