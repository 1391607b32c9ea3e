"""Which sections can be talked about: of well-known people, neither short nor long (QuAC 2.2)."""

import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING, Any
from uuid import NAMESPACE_URL, uuid5

from annotation.protocols.folds import SAME_TERMS
from collector.code_points import CodePoints
from collector.ingest.link_resolution import Resolver
from collector.ingest.segmentation import split, tokens
from collector.models import Article, Corpus, Paragraph
from collector.retrieval.terms import terms
from collector.seeds.articles import articles_in, articles_with, incoming_links
from collector.seeds.candidate import Candidate, Offered, step
from tasks.work.passages import section_text

if TYPE_CHECKING:
    from annotation.protocols.quac.parameters import Parameters, SeedsTable

# What a seed is called, and the values that leave nothing out where no number tells how much.
NOUN = "section"
LOOSEST = {"category_keywords": [], "persons_by": "anything"}
Incoming = Callable[[], Counter[int]]
ARTICLES_AT_ONCE = 500
PROSE = "paragraph"
LEAD = 0
# Where a word of the parameters must stand in a title.
BEGINNING_A_WORD, AT_THE_END = r"(?:^|\W){}", r"(?:^|\W){}$"


@dataclass(frozen=True)
class Section:
    """A section with its article's first paragraph before its own; `texts` and `ids` belong."""

    title: str
    position: int
    heading: str
    ids: tuple[int, ...]
    texts: tuple[str, ...]
    prose: bool


class Sizes:
    """How many tokens and sentences texts of a language have, each counted once."""

    def __init__(self, language: str) -> None:
        self.tokens = cache(lambda text: len(tokens(text, language)))
        self.sentences = cache(lambda text: len(split(text, language)))


def candidates(corpus: Corpus, parameters: "Parameters", rng: random.Random) -> Offered:
    """Return the sections that can be seeds, in an order drawn by `rng`, and what filters left.

    A section's place in the order depends on the corpus's text alone, never on row ids.
    """
    sizes = Sizes(corpus.language)
    return _offered(corpus, parameters, rng, lambda: incoming_links(corpus), sizes)


def counter(corpus: Corpus) -> Callable[["Parameters"], int]:
    """Return what counts the sections that can be seeds.

    Links, and the tokens and sentences of each text, are counted once for all calls.
    """
    incoming = cache(lambda: incoming_links(corpus))
    sizes = Sizes(corpus.language)

    def how_many(parameters: "Parameters") -> int:
        return _offered(corpus, parameters, random.Random(0), incoming, sizes).steps[-1][1]

    return how_many


def _offered(
    corpus: Corpus, parameters: "Parameters", rng: random.Random, incoming: Incoming, sizes: "Sizes"
) -> Offered:
    rule = parameters.seeds
    steps: list[tuple[str, int]] = []
    articles = _articles(corpus, rule, steps, incoming)
    kept = list(_sections(corpus, articles))
    steps.append(step("section", "of these with a heading", len(kept)))
    for what, fits in _filters(rule, sizes):
        kept = [section for section in kept if fits(section)]
        steps.append(step("section", what, len(kept)))
    rng.shuffle(kept)
    return Offered((_candidate(corpus, section) for section in kept), tuple(steps))


def _articles(
    corpus: Corpus, rule: "SeedsTable", steps: list[tuple[str, int]], incoming: Incoming
) -> set[int]:
    """Return the ids of the articles to take sections of; adds what each filter left to `steps`."""
    left = set(Article.objects.filter(corpus=corpus, kind="article").values_list("pk", flat=True))
    steps.append(step("article", "in the corpus", len(left)))
    if rule.category_keywords:
        left &= _with_keyword(corpus, rule, steps)
    if rule.min_incoming_links:
        counts = incoming()
        left = {article for article in left if counts[article] >= rule.min_incoming_links}
        links = "link" if rule.min_incoming_links == 1 else "links"
        which = f"with at least {rule.min_incoming_links} incoming {links}"
        steps.append(step("article", which, len(left)))
    if rule.persons_by != "anything":
        left &= _persons(corpus, rule, left, steps)
        steps.append(step("article", "about persons", len(left)))
    return left


def _with_keyword(corpus: Corpus, rule: "SeedsTable", steps: list[tuple[str, int]]) -> set[int]:
    """Return the articles in a category with a keyword, or in one below such a category."""
    fits = _any_of(rule.category_keywords, BEGINNING_A_WORD)
    found = articles_in(corpus, fits)
    steps.append(step("article", "in a category with a keyword", len(found)))
    if rule.category_levels:
        found = articles_in(corpus, fits, rule.category_levels)
        levels = "1 level" if rule.category_levels == 1 else f"{rule.category_levels} levels"
        steps.append(step("article", f"in one, or up to {levels} below one", len(found)))
    return found


def _persons(
    corpus: Corpus, rule: "SeedsTable", left: set[int], steps: list[tuple[str, int]]
) -> set[int]:
    """Return the articles about persons; where two things tell, each says how many it found."""
    if rule.persons_by == "titles":
        titles = [title.replace("_", " ").strip() for title in rule.person_titles]
        return set(Resolver(corpus).resolve(titles).values())
    by_category, by_infobox = set[int](), set[int]()
    if rule.persons_by != "infoboxes":
        by_category = articles_in(corpus, _any_of(rule.person_categories, AT_THE_END))
    if rule.persons_by != "categories":
        by_infobox = articles_with(corpus, _any_of(rule.person_infoboxes, AT_THE_END))
    if rule.persons_by == "either":
        steps.append(step("article", "about persons by their categories", len(left & by_category)))
        steps.append(step("article", "about persons by their infobox", len(left & by_infobox)))
    return by_category | by_infobox


def _any_of(words: Iterable[str], place: str) -> Callable[[str], object]:
    """Return what finds one of the words, in any case, in a title."""
    either = "|".join(re.escape(word.casefold()) for word in words)
    pattern = re.compile(place.format(f"(?:{either})")) if either else re.compile(r"(?!)")
    return lambda title: pattern.search(title.casefold())


def _sections(corpus: Corpus, articles: set[int]) -> Iterator[Section]:
    """Yield the sections of the articles in the order of titles and of the text."""
    named = Article.objects.filter(corpus=corpus, kind="article").order_by(CodePoints("title"))
    wanted = [pk for pk in named.values_list("pk", flat=True) if pk in articles]
    for start in range(0, len(wanted), ARTICLES_AT_ONCE):
        rows = (
            Paragraph.objects.filter(article_id__in=wanted[start : start + ARTICLES_AT_ONCE])
            .order_by(CodePoints("article__title"), "position")
            .values_list(
                "article__title", "section__position", "section__heading", "pk", "kind", "text"
            )
        )
        for title, paragraphs in groupby(rows, key=lambda row: row[0]):
            yield from _of_article(title, list(paragraphs))


def _of_article(title: str, rows: Sequence[tuple[Any, ...]]) -> Iterator[Section]:
    """Yield the sections with a heading; without a first paragraph they have a single text less."""
    lead = [(pk, text) for _, position, _, pk, kind, text in rows if (position, kind) == (0, PROSE)]
    for position, group in groupby(rows, key=lambda row: row[1]):
        own = list(group)
        if position == LEAD:
            continue
        pieces = [*lead[:1], *((pk, text) for *_, pk, _, text in own)]
        yield Section(
            title=title,
            position=position,
            heading=own[0][2],
            ids=tuple(pk for pk, _ in pieces) if lead else (),
            texts=tuple(text for _, text in pieces) if lead else (),
            prose=all(kind == PROSE for *_, kind, _ in own),
        )


def _filters(rule: "SeedsTable", sizes: "Sizes") -> Iterator[tuple[str, Callable[[Section], bool]]]:
    """Yield each filter with what it keeps; the costly ones see only what the others left."""
    most = rule.max_background_characters
    yield (
        f"whose article begins with a paragraph of at most {most} characters",
        lambda section: bool(section.ids) and len(section.texts[0]) <= most,
    )
    yield "of running text alone", lambda section: section.prose
    yield (
        f"of {rule.min_paragraphs} to {rule.max_paragraphs} paragraphs",
        lambda section: rule.min_paragraphs <= len(section.ids) - 1 <= rule.max_paragraphs,
    )
    yield (
        f"of {rule.min_tokens} to {rule.max_tokens} tokens",
        lambda section: _has_tokens(section_text(section.texts), rule, sizes),
    )
    yield (
        f"of {rule.min_words_per_sentence:g} to {rule.max_words_per_sentence:g} words a sentence",
        lambda section: _has_sentences(section_text(section.texts), rule, sizes),
    )


def _has_tokens(text: str, rule: "SeedsTable", sizes: "Sizes") -> bool:
    # There are never fewer tokens than words, and words are quickly counted.
    if len(text.split()) > rule.max_tokens:
        return False
    return rule.min_tokens <= sizes.tokens(text) <= rule.max_tokens


def _has_sentences(text: str, rule: "SeedsTable", sizes: "Sizes") -> bool:
    mean = len(text.split()) / max(1, sizes.sentences(text))
    return rule.min_words_per_sentence <= mean <= rule.max_words_per_sentence


def _candidate(corpus: Corpus, section: Section) -> Candidate:
    text = section_text(section.texts)
    name = f"{corpus.site_name}\n{section.title}\n{section.heading}\n{text}"
    return Candidate(
        key=uuid5(NAMESPACE_URL, name).hex,
        text=text,
        paragraphs=section.ids,
        payload={"title": section.title, "heading": section.heading},
        parts=texts_of(section.texts),
    )


def texts_of(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the article's first paragraph and the section's own, but for very short ones.

    Articles that begin alike, and sections with a paragraph in common, share a fold.
    """
    return (texts[0], *(text for text in texts[1:] if len(terms(text)) >= SAME_TERMS))
