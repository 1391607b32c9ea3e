"""Copies what a rehearsal needs of a collection into a file, and out of it into an empty home.

The copy has the primary keys of the rows, so that nothing is to be translated; what workers, the
ledger and the marketplace added to the collection stays behind.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, islice
from math import ceil
from pathlib import Path
from typing import Any, TypeVar

from django.core import serializers
from django.db import models, transaction

from collector.models import (
    Article,
    Book,
    Collection,
    CollectionState,
    CollectionText,
    Corpus,
    Document,
    DumpFile,
    Paragraph,
    Section,
    Seed,
    SeedParagraph,
    StageState,
)
from collector.models.collection import new_pseudonym_key
from collector.models.corpus import ArticleKind
from collector.protocols.creation import parameters_of
from tasks.work.kinds.registry import kind_of

FEWEST_SEEDS = 5
# A smaller corpus is copied whole; of a larger one what seeds show, and what that links to.
SMALL_CORPUS = 500
MOST_LINKED = 3000
# A redirect may lead to a redirect.
HOPS = 3
AT_ONCE = 500

T = TypeVar("T")


@dataclass(frozen=True)
class Copied:
    """How much of a collection was copied, and how many articles its corpus has; no redirects."""

    seeds: int
    articles: int
    articles_in_all: int


def write_copy(collection: Collection, n_workers: int, path: Path) -> Copied:
    """Write the rows that so many simulated workers need to a file of JSON lines; reads only."""
    seeds = _seeds(collection, n_workers)
    articles = _articles(collection.corpus, seeds)
    with path.open("w", encoding="utf-8") as file:
        for objects in _rows(collection, seeds, articles):
            serializers.serialize("jsonl", objects, stream=file)
    readable = collection.corpus.articles.filter(kind=ArticleKind.ARTICLE)
    copied = sum(readable.filter(pk__in=some).count() for some in _some(articles))
    return Copied(len(seeds), copied, readable.count())


def load_copy(path: Path) -> Collection:
    """Store the rows of a copy in an empty database, and return the collection: a draft."""
    with path.open(encoding="utf-8") as file, transaction.atomic():
        found = (each.object for each in serializers.deserialize("jsonl", file))
        for model, objects in groupby(found, key=type):
            rows: Any = model
            for some in _some(objects):
                rows._default_manager.bulk_create(some)
    return Collection.objects.select_related("corpus").get()


def _seeds(collection: Collection, n_workers: int) -> list[Seed]:
    """Return the first seeds, for about one HIT of each stage a worker."""
    tables = parameters_of(collection).stages()
    found: list[Seed] = []
    for stage in collection.stages.all():
        table = tables[stage.name]
        people = 2 if kind_of(table).pairs_workers else 1
        places = people * max(1, table.redundancy.of("train")) / table.items_per_hit
        enough = max(FEWEST_SEEDS, ceil(n_workers / places))
        # Of each fold as many as its share, one at least.
        seeds = Seed.objects.filter(stage=stage)
        folds = Counter(seeds.values_list("fold", flat=True))
        for fold, number in sorted(folds.items()):
            share = ceil(enough * number / folds.total())
            found += seeds.filter(fold=fold).order_by("position")[:share]
    return found


def _articles(corpus: Corpus, seeds: Sequence[Seed]) -> list[int]:
    """Return the ids of the articles to copy: those of the seeds first, then what they link to."""
    if corpus.articles.count() <= SMALL_CORPUS:
        return list(corpus.articles.order_by("pk").values_list("pk", flat=True))
    shown = Paragraph.objects.filter(
        pk__in=SeedParagraph.objects.filter(seed__in=seeds).values("paragraph")
    )
    found = dict.fromkeys(shown.order_by("pk").values_list("article_id", flat=True))
    titles = {to for links in shown.values_list("links", flat=True) for _, _, to in links}
    for _ in range(HOPS):
        onward: set[str] = set()
        for some in _some(sorted(titles)):
            rows = corpus.articles.filter(title__in=some).order_by("pk")
            for pk, target in rows.values_list("pk", "redirect_target"):
                if len(found) < len(seeds) + MOST_LINKED:
                    found[pk] = None
                    onward |= {target} - {""}
        titles = onward - titles
    return list(found)


def _rows(
    collection: Collection, seeds: Sequence[Seed], articles: Sequence[int]
) -> Iterator[Iterable[models.Model]]:
    """Yield rows in an order in which each finds those it refers to."""
    corpus = collection.corpus
    yield [corpus]
    yield DumpFile.objects.filter(corpus=corpus).order_by("pk")
    yield _in(Article, "pk", articles)
    for model in (Document, Book, Section, Paragraph):
        yield _in(model, "article", articles)
    yield [_draft(collection)]
    yield CollectionText.objects.filter(collection=collection).order_by("pk")
    stages = list(collection.stages.order_by("position"))
    for stage in stages:
        stage.state = StageState.DRAFT
    yield stages
    yield seeds
    yield _in(SeedParagraph, "seed", [seed.pk for seed in seeds])


def _in(model: type[models.Model], key: str, ids: Sequence[int]) -> Iterator[models.Model]:
    rows: Any = model._default_manager
    return chain.from_iterable(
        rows.filter(**{f"{key}__in": some}).order_by("pk") for some in _some(ids)
    )


def _some(things: Iterable[T]) -> Iterator[list[T]]:
    """Yield the things in batches."""
    rest = iter(things)
    while some := list(islice(rest, AT_ONCE)):
        yield some


def _draft(collection: Collection) -> Collection:
    """Return the collection as it was before anybody worked, under a key of its own; not stored."""
    row = Collection.objects.get(pk=collection.pk)
    row.state = CollectionState.DRAFT
    row.reserved_cents = row.spent_cents = 0
    row.maximum_cents, row.maximum_for = None, ""
    row.archived_at = row.maintained_until = row.look_at = None
    row.pseudonym_key = new_pseudonym_key()
    if "people" in row.parameters:
        # The groups are the real marketplace's: simulated workers are in none.
        people = {**row.parameters["people"], "groups": []}
        row.parameters = {**row.parameters, "people": people}
    return row
