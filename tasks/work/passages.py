"""Passages as pages show them: of a seed, or by the names under which they are cited."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from collector.ingest.link_resolution import Resolver
from collector.ingest.segmentation import tokens
from collector.models import Article, Corpus, Document, Paragraph, Seed
from common.committed_cache import kept_once_committed
from common.prepared_sql import execute
from tasks.work.dialog_rules import Token
from tasks.work.widgets.marked import markable

# A statement by hand: everybody who opens a HIT waits for it.
PASSAGES = """
SELECT shown.seed_id, paragraph.id, paragraph.text, paragraph.links, paragraph.sentences,
    section.heading, article.title, corpus.language, corpus.direction
FROM collector_seedparagraph shown
JOIN collector_paragraph paragraph ON paragraph.id = shown.paragraph_id
JOIN collector_section section ON section.id = paragraph.section_id
JOIN collector_article article ON article.id = paragraph.article_id
JOIN collector_corpus corpus ON corpus.id = article.corpus_id
WHERE shown.seed_id IN (%s) ORDER BY shown.seed_id, shown.position
"""
PASSAGES_BY_ID = """
SELECT paragraph.id, COALESCE(document.external_id, article.title), paragraph.position,
    paragraph.text, paragraph.pages, section.heading, article.title,
    corpus.language, corpus.direction
FROM collector_paragraph paragraph
JOIN collector_section section ON section.id = paragraph.section_id
JOIN collector_article article ON article.id = paragraph.article_id
JOIN collector_corpus corpus ON corpus.id = article.corpus_id
LEFT JOIN collector_document document ON document.article_id = article.id
WHERE paragraph.id IN (%s)
"""
SHOWN = """
SELECT shown.seed_id, shown.paragraph_id FROM collector_seedparagraph shown
WHERE shown.seed_id IN (%s) ORDER BY shown.seed_id, shown.position
"""
# Of each seed's articles in the order of its passages, the headings in theirs.
OUTLINES = """
SELECT shown.seed_id, article.id, article.title, corpus.language, corpus.direction,
    section.heading, section.level
FROM (
    SELECT shown.seed_id, paragraph.article_id, MIN(shown.position) AS position
    FROM collector_seedparagraph shown
    JOIN collector_paragraph paragraph ON paragraph.id = shown.paragraph_id
    WHERE shown.seed_id IN (%s) GROUP BY shown.seed_id, paragraph.article_id
) shown
JOIN collector_article article ON article.id = shown.article_id
JOIN collector_corpus corpus ON corpus.id = article.corpus_id
JOIN collector_section section ON section.article_id = article.id
ORDER BY shown.seed_id, shown.position, section.position
"""
# A long document's first headings tell what it is about.
MOST_HEADINGS = 40
MARK = "#"


def passages_of(seeds: Iterable[int]) -> dict[int, dict[str, Any]]:
    """Return by seed id its first paragraph as a worker page shows it, in one query.

    Of what a link leads to, only the title is told, and of a section behind the first paragraph
    only what it is called: "about".
    """
    wanted = list(seeds)
    places = ", ".join(["%s"] * len(wanted))
    passages: dict[int, dict[str, Any]] = {}
    for row in execute(PASSAGES % places, wanted) if wanted else ():
        seed, paragraph, text, links, sentences, heading, title, language, direction = row
        if seed in passages:
            passages[seed]["about"] = passages[seed]["about"] or heading
            continue
        passages[seed] = {
            "title": title,
            "section": heading,
            "about": "",
            "text": text,
            "lang": language,
            "dir": direction,
            "links": [
                {"start": start, "end": end, "title": to} for start, end, to in orjson.loads(links)
            ],
            "sentences": _sentences(paragraph, sentences, language),
        }
    return passages


@dataclass(frozen=True)
class Pair:
    """What a page shows of a seed with several paragraphs, and what the seed's protocol says."""

    payload: dict[str, Any]
    paragraphs: list[dict[str, Any]] = field(default_factory=list)


def paragraphs_of(seeds: Iterable[int]) -> dict[int, Pair]:
    """Return by seed id its paragraphs as a worker page shows them, in two queries.

    Each has its place among them as "document", and its tokens: (start, end, is it a word?).
    """
    wanted = list(seeds)
    places = ", ".join(["%s"] * len(wanted))
    found = {
        seed: Pair(payload)
        for seed, payload in Seed.objects.filter(pk__in=wanted).values_list("pk", "payload")
    }
    for row in execute(PASSAGES % places, wanted) if wanted else ():
        seed, paragraph, text, _, sentences, heading, title, language, direction = row
        shown = found[seed].paragraphs
        shown.append(
            {
                "document": str(len(shown)),
                "title": title,
                "section": heading,
                "text": text,
                "lang": language,
                "dir": direction,
                "sentences": _sentences(paragraph, sentences, language),
                "tokens": [
                    (start, end, any(map(str.isalnum, text[start:end])))
                    for start, end in tokens(text, language)
                ],
            }
        )
    return found


def _sentences(paragraph: int, stored: str | None, language: str) -> list[list[int]]:
    if stored:
        known: list[list[int]] = orjson.loads(stored)
        return known
    row = Paragraph.objects.get(pk=paragraph)
    with_sentences([row], language)
    return row.sentences or []


def with_sentences(paragraphs: Iterable[Paragraph], language: str) -> None:
    """Give each paragraph its sentence boundaries, computed once and stored with the splitter."""
    whole = [paragraph for paragraph in paragraphs if paragraph.sentences is None]
    if not whole:
        return
    from collector.ingest.segmentation import split, version

    for paragraph in whole:
        paragraph.sentences = split(paragraph.text, language)
        paragraph.splitter = version()
    Paragraph.objects.bulk_update(whole, ["sentences", "splitter"])


def find_article(corpus: Corpus, title: str) -> Article | None:
    """Return the article a link leads to, through redirects; None when the corpus has none."""
    found = Resolver(corpus).resolve([title])
    return Article.objects.get(pk=found[title]) if found else None


def readable_titles(corpus_id: int, titles: set[str]) -> set[str]:
    """Return those of `titles` that an answerer can open."""
    return set(Resolver(Corpus(pk=corpus_id)).resolve(titles))


def name_of(document: str, paragraph: int) -> str:
    """Return what a passage is called: its document's id and its place there."""
    return f"{document}{MARK}{paragraph}"


def passages_by_id(paragraphs: Iterable[int]) -> dict[int, dict[str, Any]]:
    """Return by row id what a page is told of passages, without what it takes to mark in them.

    "document" is the document's own id, or the article's title where it has none, "paragraph" the
    place in it, "page" the first page that the passage stands on, or None.
    """
    wanted = list(paragraphs)
    places = ", ".join(["%s"] * len(wanted))
    found = {}
    for row in execute(PASSAGES_BY_ID % places, wanted) if wanted else ():
        key, document, position, text, pages, heading, title, language, direction = row
        numbers = orjson.loads(pages) if pages else None
        found[key] = {
            "document": document,
            "paragraph": position,
            "title": title,
            "section": heading,
            "page": numbers[0][1] if numbers else None,
            "text": text,
            "lang": language,
            "dir": direction,
        }
    return found


def with_tokens(passage: dict[str, Any]) -> dict[str, Any]:
    """Return a passage with the tokens that marks in it begin and end with."""
    text = passage["text"]
    found = [
        (start, end, any(map(str.isalnum, text[start:end])))
        for start, end in tokens(text, passage["lang"])
    ]
    return {**passage, "tokens": markable(text, found)}


def passages_of_seeds(seeds: Iterable[int]) -> dict[int, list[dict[str, Any]]]:
    """Return by seed id its passages, in the seed's order, fit to be marked in."""
    wanted = list(seeds)
    places = ", ".join(["%s"] * len(wanted))
    pairs = list(execute(SHOWN % places, wanted)) if wanted else []
    known = passages_by_id({paragraph for _, paragraph in pairs})
    found: dict[int, list[dict[str, Any]]] = {}
    for seed, paragraph in pairs:
        found.setdefault(seed, []).append(with_tokens(known[paragraph]))
    return found


def outlines_of_seeds(seeds: Iterable[int]) -> dict[int, list[dict[str, Any]]]:
    """Return by seed id what its documents are about: titles and headings, no text of them.

    Every document once, in the order of the seed's passages.
    """
    wanted = list(seeds)
    places = ", ".join(["%s"] * len(wanted))
    found: dict[int, dict[int, dict[str, Any]]] = {}
    for row in execute(OUTLINES % places, wanted) if wanted else ():
        seed, article, title, language, direction, heading, level = row
        about = {"title": title, "lang": language, "dir": direction, "headings": []}
        told = found.setdefault(seed, {}).setdefault(article, about)
        if heading and len(told["headings"]) < MOST_HEADINGS:
            told["headings"].append({"words": heading, "level": level})
    return {seed: list(articles.values()) for seed, articles in found.items()}


@kept_once_committed(8192)
def paragraph_of(corpus_id: int, name: str) -> int:
    """Return the row id of the passage of this name; raises Paragraph.DoesNotExist."""
    document, mark, position = name.rpartition(MARK)
    if not mark or not position.isascii() or not position.isdigit() or len(position) > 9:
        raise Paragraph.DoesNotExist(f"{name!r} names no passage.")
    own = Document.objects.filter(corpus_id=corpus_id, external_id=document)
    article = own.values_list("article_id", flat=True).first()
    if article is None:
        titled = Article.objects.filter(corpus_id=corpus_id, title=document, document=None)
        article = titled.values_list("pk", flat=True).first()
    if article is None:
        raise Paragraph.DoesNotExist(f"There is no document {document!r}.")
    row = Paragraph.objects.filter(article_id=article, position=int(position))
    return int(row.values_list("pk", flat=True).get())


@kept_once_committed(2048)
def text_of(paragraph: int) -> str:
    """Return a passage's text; what has been read in never changes."""
    return str(Paragraph.objects.values_list("text", flat=True).get(pk=paragraph))


def neighbours_of(paragraph: int) -> dict[str, int | None]:
    """Return the places of the passages before and behind one in its document, by side."""
    article, position = Paragraph.objects.values_list("article_id", "position").get(pk=paragraph)
    places = Paragraph.objects.filter(article_id=article).values_list("position", flat=True)
    before = places.filter(position__lt=position).order_by("-position").first()
    behind = places.filter(position__gt=position).order_by("position").first()
    return {"before": before, "behind": behind}


@dataclass(frozen=True)
class Section:
    """A section with its article's beginning.

    tokens: (start, end, whether it is a word) in `text`; what has no letter or digit is none.
    paragraphs: (start, end) of each in `text`.
    """

    title: str
    heading: str
    background: str
    text: str
    tokens: tuple[Token, ...]
    paragraphs: tuple[tuple[int, int], ...]
    language: str
    direction: str


# More than a process has dialogs: to split a section into its tokens takes milliseconds.
@kept_once_committed(1024)
def section_of(seed_id: int) -> Section:
    """Return a seed's section; the first of its paragraphs is the article's, the background."""
    seed = Seed.objects.select_related("collection__corpus").get(pk=seed_id)
    rows = seed.seed_paragraphs.select_related("paragraph__article", "paragraph__section")
    first, *others = [each.paragraph for each in rows.order_by("position")]
    corpus = seed.collection.corpus
    text = section_text([paragraph.text for paragraph in (first, *others)])
    return Section(
        title=first.article.title,
        heading=others[0].section.heading,
        background=first.text,
        text=text,
        tokens=tuple(
            (start, end, any(map(str.isalnum, text[start:end])))
            for start, end in tokens(text, corpus.language)
        ),
        paragraphs=tuple(_paragraphs([paragraph.text for paragraph in others])),
        language=corpus.language,
        direction=corpus.direction,
    )


def _paragraphs(texts: list[str]) -> Iterator[tuple[int, int]]:
    """Yield where each paragraph stands in the section, as `section_text` joins them."""
    start = 0
    for text in texts:
        yield start, start + len(text)
        start += len(text) + 1


def section_text(texts: Sequence[str]) -> str:
    """Return the section's text, to which every offset refers: its paragraphs, a blank between.

    texts: those of the seed's paragraphs in order, the background first.
    """
    return " ".join(texts[1:])
