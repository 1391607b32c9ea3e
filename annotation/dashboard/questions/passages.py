"""Passages and linked articles as a requester reads them, fetched for many items at once."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from django.db.models import Prefetch, QuerySet

from annotation.dashboard.questions.highlights import Piece, Quote, pieces, quote
from collector.ingest.article_text import join_article
from collector.ingest.link_resolution import Resolver
from collector.models import Corpus, Document, Paragraph, Section, Seed, SeedParagraph
from tasks.models import Answer, Question
from tasks.work.sections import section_text
from tasks.work.widgets.reply import SECTION
from tasks.work.widgets.spans import MAIN

QUESTION = "question"


# What spans call the seed's own text.
OWN = (MAIN, SECTION)


@dataclass(frozen=True)
class Passage:
    """A seed's text, whose `pieces` carry the marks.

    It is its one paragraph, or the section that follows the first, the article's `beginning`.
    """

    title: str
    section: str
    lang: str
    dir: str
    pieces: list[Piece]
    beginning: str = ""


def seed_paragraphs(of: str = "") -> Prefetch:
    """Return what to prefetch where passages are shown; `of` is the path to the seeds."""
    rows = SeedParagraph.objects.select_related(
        "paragraph__article__corpus", "paragraph__section"
    ).order_by("position")
    return Prefetch(f"{of}__seed_paragraphs" if of else "seed_paragraphs", queryset=rows)


def text_of(seed: Seed) -> str:
    """Return the text that spans of OWN refer to; expects seed_paragraphs() prefetched.

    Blank for a seed without paragraphs, as published files have where they withhold them.
    """
    texts = [each.paragraph.text for each in seed.seed_paragraphs.all()]
    return texts[0] if len(texts) == 1 else section_text(texts)


def passage(seed: Seed, spans: Iterable[tuple[int, int, str]] = ()) -> Passage:
    """Return the seed's passage with its links and the given spans (start, end, mark) marked."""
    first, *others = [each.paragraph for each in seed.seed_paragraphs.all()]
    shown = others or [first]
    return Passage(
        title=first.article.title,
        section=shown[0].section.heading,
        lang=first.article.corpus.language,
        dir=first.article.corpus.direction,
        pieces=pieces(text_of(seed), [*_links(shown), *spans]),
        beginning=first.text if others else "",
    )


def paragraph_alone(row: Paragraph, spans: Iterable[tuple[int, int, str]]) -> Passage:
    """Return a paragraph with nothing but the given spans marked; expects article and corpus."""
    corpus = row.article.corpus
    return Passage(
        row.article.title, "", corpus.language, corpus.direction, pieces(row.text, spans)
    )


def passages(seed: Seed) -> list[Passage]:
    """Return the seed's paragraphs with their links marked, each by itself: those of a pair."""
    rows = [each.paragraph for each in seed.seed_paragraphs.all()]
    return [paragraph_alone(row, _links([row])) for row in rows]


def pair_passages(question: Question, chosen: Answer | None) -> list[Passage]:
    """Return the paragraphs of a question about a pair, its facts and the chosen answer marked."""
    rows = [each.paragraph for each in question.seed.seed_paragraphs.all()]
    return [
        paragraph_alone(row, _proofs(question, chosen, number, row))
        for number, row in enumerate(rows)
    ]


def _proofs(
    question: Question, chosen: Answer | None, number: int, paragraph: Paragraph
) -> list[tuple[int, int, str]]:
    """Return the facts and the answer that lie in the pair's paragraph of that number."""
    sentences = paragraph.sentences or []
    facts = [
        (*sentences[sentence], "evidence")
        for place, sentence in question.payload.get("facts") or ()
        if place == number and sentence < len(sentences)
    ]
    spans = (chosen.payload.get("spans") or ()) if chosen else ()
    answers = [
        (span["start"], span["end"], "answer") for span in spans if span["document"] == number
    ]
    return [*facts, *answers]


def proven_passages(question: Question, chosen: Answer | None) -> list[Passage]:
    """Return a seed's passages with what the chosen answer marks in them, to prove it or seem to.

    What it marks in others, which somebody found by search, stands beside the answer.
    """
    rows = [each.paragraph for each in question.seed.seed_paragraphs.all()]
    own = Document.objects.filter(article__in=[row.article_id for row in rows])
    names = dict(own.values_list("article_id", "external_id"))
    payload = chosen.payload if chosen else {}
    marked = [*(payload.get("evidence") or ()), *(payload.get("plausible") or ())]
    return [
        paragraph_alone(
            row,
            [
                (piece["start"], piece["end"], "evidence")
                for piece in marked
                if piece["document"] == names.get(row.article_id, row.article.title)
                and piece["paragraph"] == row.position
            ],
        )
        for row in rows
    ]


def _links(paragraphs: Iterable[Paragraph]) -> Iterator[tuple[int, int, str]]:
    """Yield the links of paragraphs that are joined by a blank."""
    base = 0
    for paragraph in paragraphs:
        for start, end, _ in paragraph.links:
            yield base + start, base + end, "link"
        base += len(paragraph.text) + 1


def article_texts(corpus: Corpus, titles: Iterable[str]) -> dict[str, str]:
    """Return the plain text behind each title, through redirects; what is missing is left out.

    Three queries, and one more for each step of a chain of redirects.
    """
    found = Resolver(corpus).resolve(titles)
    texts = _joined(set(found.values()))
    return {title: texts[article] for title, article in found.items()}


def _joined(ids: set[int]) -> dict[int, str]:
    headings: dict[int, dict[int, str]] = {pk: {} for pk in ids}
    sections: QuerySet = Section.objects.filter(article__in=ids)
    for pk, position, heading in sections.values_list("article_id", "position", "heading"):
        headings[pk][position] = heading
    lines: dict[int, list[tuple[int, str]]] = {pk: [] for pk in ids}
    rows = Paragraph.objects.filter(article__in=ids).order_by("article_id", "position")
    for pk, section, text in rows.values_list("article_id", "section__position", "text"):
        lines[pk].append((section, text))
    return {pk: join_article(headings[pk], lines[pk]).text for pk in ids}


def quoted(span: dict, texts: dict[str, str]) -> Quote:
    """Return a stored span with its surroundings; alone where its document cannot be read."""
    document = span.get("document", MAIN)
    text = texts.get(document, "")
    start, end = span["start"], span["end"]
    if text[start:end] != span["text"]:
        return Quote(document, "", span["text"], "")
    return quote(document, text, start, end)
