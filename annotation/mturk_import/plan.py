"""Finds where old results go and what taking them in would do, and makes what they are about."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from django.db.models import Max

from annotation.mturk_import.result_files import Columns, Item, Result, check_columns
from collector.models import (
    Article,
    Collection,
    CollectionState,
    Corpus,
    Paragraph,
    Section,
    Seed,
    SeedParagraph,
)
from collector.models.corpus import CorpusKind, CorpusState
from collector.protocols.creation import create_collection, parameters_of
from collector.protocols.loading import Protocol
from collector.protocols.parameters import Parameters
from collector.protocols.stage_tables import FormTable, LabelTable, TextTable
from collector.seeds.candidate import Candidate
from collector.seeds.selection import store_candidates
from common.actions import ActionError
from common.storable import storable
from tasks.models import Posting, Question, Session, UnitItem
from tasks.models.people import ARCHIVE
from tasks.work.kinds.kind import Data, protocol_problems
from tasks.work.kinds.kind import Item as PageItem
from tasks.work.kinds.registry import kind_of

UNTITLED = "Passages"
MAX_TITLE = 300
TEXTS_AT_ONCE = 500


@dataclass(frozen=True)
class Destination:
    """Where results go: the collection and the corpus, None as long as they are not made."""

    slug: str
    protocol: Protocol
    corpus_slug: str
    overrides: dict[str, Any]
    collection: Collection | None
    corpus: Corpus | None
    parameters: Parameters


def find_destination(
    slug: str, protocol: Protocol, corpus_slug: str, overrides: dict[str, Any]
) -> Destination:
    """Return what is there of the place; raises ActionError where results cannot go to it."""
    collection = Collection.objects.filter(slug=slug).select_related("corpus").first()
    corpus = Corpus.objects.filter(slug=corpus_slug).first()
    wanted = protocol.parameters(overrides)
    if collection is None:
        return Destination(slug, protocol, corpus_slug, overrides, None, corpus, wanted)
    others = Posting.objects.filter(stage__collection=collection).exclude(provider=ARCHIVE)
    if collection.protocol != protocol.name or collection.corpus != corpus or others.exists():
        raise ActionError(
            f"The collection {slug!r} has another protocol, another corpus or work of its own: "
            "choose another name for the old results."
        )
    parameters = parameters_of(collection)
    if overrides and wanted != parameters:
        raise ActionError(
            f"The collection {slug!r} was made with other parameters: leave --set out, or choose "
            "another name."
        )
    return Destination(slug, protocol, corpus_slug, overrides, collection, corpus, parameters)


def get_or_create_collection(destination: Destination, language: str, now: datetime) -> Collection:
    """Return the collection of the place, made if it is not there; it is finished: no HITs."""
    if destination.collection:
        return destination.collection
    corpus = destination.corpus
    if corpus is None:
        corpus = storable(
            Corpus(
                slug=destination.corpus_slug,
                name=f"the passages of {destination.slug}",
                kind=CorpusKind.IMPORTED,
                language=language,
                source="old results",
                state=CorpusState.READY,
            )
        )
        corpus.save()
    collection = create_collection(
        destination.slug,
        destination.protocol,
        corpus,
        overrides=destination.overrides,
        seed=0,
        now=now,
        requester_name="The requester of the old results",
        requester_contact="",
    )
    collection.state = CollectionState.FINISHED
    collection.save(update_fields=["state"])
    return collection


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
    chosen = [
        Candidate(uuid5(NAMESPACE_URL, f"{titles[row.text]}\n{row.text}").hex, row.text, (row.pk,))
        for row in new
    ]
    store_candidates(collection, parameters, chosen, [stage_name] * len(chosen), first)
    found = _seeds(collection)
    return {text: found[row.pk] for text, row in paragraphs.items()}


def _seeds(collection: Collection) -> dict[int, Seed]:
    rows = SeedParagraph.objects.filter(seed__collection=collection, position=0)
    return {row.paragraph_id: row.seed for row in rows.select_related("seed")}


def paragraphs_of(corpus: Corpus, texts: Iterable[str]) -> dict[str, Paragraph]:
    """Return the corpus's first paragraph of each text that it has, read once a few hundred."""
    wanted, found = iter(texts), dict[str, Paragraph]()
    while chunk := list(islice(wanted, TEXTS_AT_ONCE)):
        rows = Paragraph.objects.filter(article__corpus=corpus, text__in=chunk).order_by("-pk")
        found |= {row.text: row for row in rows.select_related("article", "section")}
    return found


def _added(corpus: Corpus, title: str, text: str) -> Paragraph:
    """Return a new paragraph at the end of the article of that title, made where there is none."""
    title = title[:MAX_TITLE]
    section = Section.objects.filter(article__corpus=corpus, article__title=title).first()
    if section is None:
        last = corpus.articles.aggregate(last=Max("page_id"))["last"] or 0
        article = Article.objects.create(
            corpus=corpus, page_id=last + 1, title=title, revision_id=0
        )
        section = Section.objects.create(article=article, position=0, level=0)
    position = section.paragraphs.count()
    return Paragraph.objects.create(
        article=section.article, section=section, position=position, text=text, links=[], n_links=0
    )


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


@dataclass(frozen=True)
class Work:
    """One result with its items, and the cleaned data as a page would have sent it."""

    result: Result
    items: list[Item]
    data: Data


@dataclass
class Plan:
    """What would be stored; `left_out` are (place, why), `n_known` were stored before."""

    works: list[Work] = field(default_factory=list)
    n_known: int = 0
    left_out: list[tuple[str, str]] = field(default_factory=list)


def form_of(parameters: Parameters, stage_name: str) -> FormTable:
    """Return the table of a stage whose results can be taken in; raises ActionError."""
    stages = parameters.stages()
    table = stages.get(stage_name)
    if table is None:
        raise ActionError(f"There is no stage {stage_name!r}; known: {', '.join(stages)}.")
    source = stages.get(table.items_from)
    is_first = isinstance(table, TextTable) and table.items_from == "seeds"
    is_second = (
        isinstance(table, LabelTable) and source is not None and source.items_from == "seeds"
    )
    if not isinstance(table, FormTable) or table.qualifies or not (is_first or is_second):
        raise ActionError(
            f"Results of the stage {stage_name!r} (of the kind {table.kind!r}) cannot be taken in: "
            "only texts written about passages can, and labels given to such texts."
        )
    return table


def plan(
    results: Sequence[Result],
    columns: Columns,
    protocol: Protocol,
    parameters: Parameters,
    table: FormTable,
    corpus: Corpus | None,
    environment: str,
) -> Plan:
    """Return what taking in the results would do; raises ActionError for a wrong mapping."""
    needed = ["passage"] + (["text"] if isinstance(table, LabelTable) else [])
    needed += [each.name for each in table.fields if each.required]
    check_columns(columns, results, needed)
    known = known_ids(environment)
    made, shown = Plan(), _shown_before(environment)
    all_items = [columns.items(result) for result in results]
    missing: set[str] = set()
    if corpus is not None and corpus.kind != CorpusKind.IMPORTED:
        # Passages are added to no wiki.
        texts = {item.passage for items in all_items for item in items}
        missing = texts - set(paragraphs_of(corpus, texts))
    for result, items in zip(results, all_items, strict=True):
        if result.assignment_id in known:
            made.n_known += 1
            continue
        data, why = _examined(items, protocol, parameters, table)
        if not why and (lost := [item.passage for item in items if item.passage in missing]):
            why = f"The corpus has no paragraph {lost[0][:60]!r}: name a new corpus for it."
        same = [(item.passage, item.text) for item in items]
        if not why and shown.setdefault(result.hit_id, same) != same:
            why = "It shows other items than the same HIT did before: give the HIT's own inputs."
        if why:
            made.left_out.append((result.place, why))
            continue
        known.add(result.assignment_id)
        made.works.append(Work(result, items, data))
    return made


def known_ids(environment: str) -> set[str]:
    """Return the ids of the assignments that were taken in before."""
    rows = Session.objects.filter(provider=ARCHIVE, environment=environment)
    return set(rows.values_list("session_id", flat=True))


def _shown_before(environment: str) -> dict[str, list[tuple[str, str]]]:
    """Return what each HIT that was taken in before showed: passage and text of each item."""
    rows = UnitItem.objects.filter(
        unit__leases__session__provider=ARCHIVE, unit__leases__session__environment=environment
    )
    # A seed's first paragraph is its passage: it comes last, and stays.
    of_seed = "seed__seed_paragraphs__position"
    rows = rows.order_by(f"-{of_seed}", f"-question__{of_seed}")
    found: dict[str, dict[int, tuple[str, str]]] = {}
    for hit, position, own, of_text, text in rows.values_list(
        "unit__leases__session__posting__external_id",
        "position",
        "seed__seed_paragraphs__paragraph__text",
        "question__seed__seed_paragraphs__paragraph__text",
        "question__text",
    ):
        found.setdefault(hit, {})[position] = (own or of_text, text or "")
    return {hit: [items[at] for at in sorted(items)] for hit, items in found.items()}


def _examined(
    items: list[Item], protocol: Protocol, parameters: Parameters, table: FormTable
) -> tuple[Data, str]:
    """Return the data that a page would keep, and the first thing it would refuse."""
    if not items:
        return {}, "There is no passage: give what the HIT showed, with --inputs for a dump."
    if isinstance(table, LabelTable) and not all(item.text for item in items):
        return {}, "The text that was labelled is missing: name its column with --map text=COLUMN."
    page: list[PageItem] = [
        {
            "id": str(index),
            "text": item.text,
            "passage": {"title": item.title, "text": item.passage, "links": []},
        }
        for index, item in enumerate(items)
    ]
    sent = [{"item": str(index), "fields": item.fields} for index, item in enumerate(items)]
    # Old results name no articles.
    data, problems = kind_of(table).clean(
        {"entries": sent}, page, lambda item, title: None, table, parameters
    )
    asked = protocol_problems(protocol.name, data, page, table, parameters)
    problems += [problem for problem in asked if not problem.hint]
    return data, problems[0].message if problems else ""
