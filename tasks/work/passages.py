"""What a page shows of a seed: its text, links and sentences, and the articles behind the links."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import orjson

from collector.ingest.link_resolution import Resolver
from collector.ingest.segmentation import tokens
from collector.models import Article, Corpus, Paragraph, Seed
from common.prepared_sql import execute

# A statement by hand: whoever opens a HIT waits for it.
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
