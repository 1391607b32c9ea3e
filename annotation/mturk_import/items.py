"""Finds or makes what old results were about: passages of a corpus, seeds and labelled texts."""

from collections.abc import Iterable
from itertools import islice
from uuid import NAMESPACE_URL, uuid5

from django.db.models import Max

from annotation.mturk_import.columns import Item
from collector.models import Article, Collection, Corpus, Paragraph, Section, Seed, SeedParagraph
from collector.protocols.parameters import Parameters
from collector.seeds.candidate import Candidate
from collector.seeds.selection import store_candidates
from tasks.models import Question

UNTITLED = "Passages"
MAX_TITLE = 300
CHUNK = 500


def seeds_for(
    collection: Collection, parameters: Parameters, stage_name: str, items: Iterable[Item]
) -> dict[str, Seed]:
    """Return the seed of each item's passage, made where there is none, by the passage's text.

    Expects the lock of the collection.
    """
    titles = {item.passage: item.title or UNTITLED for item in items}
    known = paragraphs_of(collection.corpus, titles)
    paragraphs = {
        text: known.get(text) or _added(collection.corpus, title, text)
        for text, title in titles.items()
    }
    found = _seeds(collection)
    new = [row for row in paragraphs.values() if row.pk not in found]
    first = (collection.seeds.aggregate(last=Max("position"))["last"] or 0) + 1
    chosen = [Candidate(_key(titles[row.text], row.text), row.text, (row.pk,)) for row in new]
    store_candidates(collection, parameters, chosen, [stage_name] * len(chosen), first)
    found = _seeds(collection)
    return {text: found[row.pk] for text, row in paragraphs.items()}


def _seeds(collection: Collection) -> dict[int, Seed]:
    rows = SeedParagraph.objects.filter(seed__collection=collection, position=0)
    return {row.paragraph_id: row.seed for row in rows.select_related("seed")}


def _key(title: str, text: str) -> str:
    return uuid5(NAMESPACE_URL, f"{title}\n{text}").hex


def paragraphs_of(corpus: Corpus, texts: Iterable[str]) -> dict[str, Paragraph]:
    """Return the corpus's first paragraph of each text that it has, read once a few hundred."""
    wanted, found = iter(texts), dict[str, Paragraph]()
    while chunk := list(islice(wanted, CHUNK)):
        rows = Paragraph.objects.filter(article__corpus=corpus, text__in=chunk).order_by("-pk")
        found |= {row.text: row for row in rows.select_related("article", "section")}
    return found


def _added(corpus: Corpus, title: str, text: str) -> Paragraph:
    section = _section(corpus, title[:MAX_TITLE])
    position = section.paragraphs.count()
    return Paragraph.objects.create(
        article=section.article, section=section, position=position, text=text, links=[], n_links=0
    )


def _section(corpus: Corpus, title: str) -> Section:
    found = Section.objects.filter(article__corpus=corpus, article__title=title).first()
    if found:
        return found
    last = corpus.articles.aggregate(last=Max("page_id"))["last"] or 0
    article = Article.objects.create(corpus=corpus, page_id=last + 1, title=title, revision_id=0)
    return Section.objects.create(article=article, position=0, level=0)


def texts_for(
    collection: Collection, stage_name: str, items: Iterable[Item], seeds: dict[str, Seed]
) -> dict[tuple[str, str], Question]:
    """Return the text that each item labels, by passage and text; one nobody wrote here is new."""
    stage = collection.stages.get(name=stage_name)
    found = dict[tuple[str, str], Question]()
    for item in items:
        if (item.passage, item.text) in found:
            continue
        seed = seeds[item.passage]
        same = (
            Question.objects.filter(stage=stage, seed=seed, text=item.text).order_by("pk").first()
        )
        found[item.passage, item.text] = same or Question.objects.create(
            stage=stage,
            position=0,
            seed=seed,
            key=uuid5(NAMESPACE_URL, f"{stage_name}\n{seed.key}\n{item.text}\n0").hex,
            text=item.text,
            payload={"fields": {}},
            created_at=collection.created_at,
        )
    return found
