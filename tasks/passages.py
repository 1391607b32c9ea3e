"""What a page shows of a seed: its text, links and sentences, and the articles behind the links."""

from typing import Any

from collector.models import Article, Corpus, Paragraph, Seed

# A chain of redirects longer than this is a loop.
MAX_REDIRECTS = 5


def passage_of(seed: Seed) -> dict[str, Any]:
    """Return the seed's first paragraph as a worker page shows it; link targets by title only."""
    paragraph = seed.seed_paragraphs.all()[0].paragraph
    corpus = paragraph.article.corpus
    return {
        "title": paragraph.article.title,
        "section": paragraph.section.heading,
        "text": paragraph.text,
        "lang": corpus.language,
        "dir": corpus.direction,
        "links": [
            {"start": start, "end": end, "title": title} for start, end, title in paragraph.links
        ],
        "sentences": sentences_of(paragraph, corpus.language),
    }


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


def readable_titles(corpus: Corpus, titles: set[str]) -> set[str]:
    """Return those of `titles` that an answerer can open."""
    return set(
        Article.objects.filter(corpus=corpus, title__in=titles).values_list("title", flat=True)
    )
