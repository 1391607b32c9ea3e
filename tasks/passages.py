"""What a page shows of a seed: its text, links and sentences, and the articles behind the links."""

from collections.abc import Iterable
from typing import Any

from collector.models import Article, Corpus, Paragraph, SeedParagraph

# A chain of redirects longer than this is a loop.
MAX_REDIRECTS = 5


COLUMNS = (
    "seed_id",
    "paragraph_id",
    "paragraph__text",
    "paragraph__links",
    "paragraph__sentences",
    "paragraph__section__heading",
    "paragraph__article__title",
    "paragraph__article__corpus__language",
    "paragraph__article__corpus__direction",
)


def passages_of(seeds: Iterable[int]) -> dict[int, dict[str, Any]]:
    """Return by seed id its first paragraph as a worker page shows it, in one query.

    Of what a link leads to, only the title is told.
    """
    rows = SeedParagraph.objects.filter(seed__in=set(seeds)).order_by("seed_id", "position")
    passages: dict[int, dict[str, Any]] = {}
    for row in rows.values_list(*COLUMNS):
        seed, paragraph, text, links, sentences, heading, title, language, direction = row
        if seed in passages:
            continue
        if sentences is None:
            sentences = sentences_of(Paragraph.objects.get(pk=paragraph), language)
        passages[seed] = {
            "title": title,
            "section": heading,
            "text": text,
            "lang": language,
            "dir": direction,
            "links": [{"start": start, "end": end, "title": to} for start, end, to in links],
            "sentences": sentences,
        }
    return passages


def sentences_of(paragraph: Paragraph, language: str) -> list[list[int]]:
    """Return the paragraph's sentence boundaries, computed once and stored with the splitter."""
    if paragraph.sentences is None:
        from collector.ingest.sentences import split, version

        paragraph.sentences = split(paragraph.text, language)
        paragraph.splitter = version()
        paragraph.save(update_fields=["sentences", "splitter"])
    return paragraph.sentences


def find_article(corpus: Corpus, title: str) -> Article | None:
    """Return the article a link leads to, through redirects; None when the corpus lacks it."""
    for _ in range(MAX_REDIRECTS):
        article = Article.objects.filter(corpus=corpus, title=title).first()
        if article is None or article.kind == "article":
            return article
        if article.kind != "redirect":
            return article
        title = article.redirect_target
    return None


def readable_titles(corpus_id: int, titles: set[str]) -> set[str]:
    """Return those of `titles` that an answerer can open."""
    found = Article.objects.filter(corpus=corpus_id, title__in=titles)
    return set(found.values_list("title", flat=True))
