"""Lays out a collection in which real work, read from a file, can be done again exactly."""

import random
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from django.db import transaction

from collector.ingest.licences import licence_address
from collector.ingest.link_resolution import resolve_links
from collector.ingest.records import ARTICLE, PageRecord
from collector.ingest.store import store_records
from collector.models import Collection, Corpus, DumpFile, Paragraph
from collector.models.corpus import CorpusState, DumpFileState
from collector.protocols.creation import create_collection, parameters_of
from collector.protocols.loading import Protocol
from collector.seeds.candidate import SEEDS, SPLITS, Candidate
from collector.seeds.selection import store_seeds
from common.storable import storable
from tasks.lifecycle.publication import publish
from tasks.simulation.simulated_contract import Page, RealWork

LICENCE = "CC BY-SA 4.0"


def stage_replay(
    slug: str, protocol: Protocol, replay: RealWork, source: str, *, seed: int, now: datetime
) -> Collection:
    """Return a new, open collection on a new corpus of what the file quotes.

    replay: from the protocol's part `simulated`. source: the file's name. Each passage is a seed.
    Raises what creating, and publishing, raise.
    """
    # Nobody is to read what was published long ago.
    overrides = {**replay.overrides(), "pay.approve_after_hours": 0}
    parameters = protocol.parameters(overrides)
    with transaction.atomic():
        corpus = make_corpus(f"{slug}-corpus"[:80], replay, source)
        collection = create_collection(
            slug,
            protocol,
            corpus,
            overrides=overrides,
            seed=seed,
            now=now,
            title=f"Replay of {source}",
            budget_cents=replay.cost_cents(parameters),
            requester_name="The dataset team",
            requester_contact="ask@localhost",
        )
        offered = pairs_of(collection, replay)
        store_replay_seeds(collection, protocol, replay.stages[0], offered)
    for name in replay.stages:
        publish(collection, name)
    collection.refresh_from_db()
    return collection


def make_corpus(slug: str, replay: RealWork, source: str) -> Corpus:
    """Return a corpus of the replay's pages, exactly as the file has their texts."""
    corpus = storable(
        Corpus(
            slug=slug,
            name=f"Texts quoted by {source}"[:200],
            language="en",
            site_name="Wikipedia",
            base_url="https://en.wikipedia.org/wiki/Main_Page",
            licence_name=LICENCE,
            licence_url=licence_address(LICENCE),
            source=source,
        )
    )
    corpus.save(force_insert=True)
    file = DumpFile.objects.create(corpus=corpus, name=source[:255], size_bytes=0)
    pages = replay.pages()
    store_records(file, [_record(page, number) for number, page in enumerate(pages, 1)])
    file.state = DumpFileState.DONE
    file.save(update_fields=["state"])
    resolve_links(corpus)
    if sentences := replay.sentences():
        # Those of each title's first paragraph, as the file has them.
        rows = Paragraph.objects.filter(article__corpus=corpus, position=0)
        for paragraph in rows.select_related("article"):
            paragraph.sentences = sentences[paragraph.article.title]
            paragraph.splitter = source[:60]
            paragraph.save(update_fields=["sentences", "splitter"])
    corpus.state, corpus.counts = CorpusState.READY, file.counts
    corpus.save(update_fields=["state", "counts"])
    return corpus


def _record(page: Page, number: int) -> PageRecord:
    title, paragraphs = page
    headings = list(dict.fromkeys(["", *(heading for heading, _, _ in paragraphs)]))
    return PageRecord(
        title=title,
        page_id=number,
        kind=ARTICLE,
        redirect_target="",
        revision_id=number,
        timestamp="",
        is_list=False,
        sections=[(2 if heading else 0, heading) for heading in headings],
        paragraphs=[
            (headings.index(heading), "paragraph", text, [tuple(link) for link in links])
            for heading, text, links in paragraphs
        ],
        categories=[],
    )


def pairs_of(collection: Collection, replay: RealWork) -> list[Candidate] | None:
    """Return the replay's own seeds: the first paragraphs of their titles, and what it says.

    None where the file names no seeds: each of its texts is one.
    """
    named = replay.seeds()
    if named is None:
        return None
    corpus = collection.corpus
    rows = Paragraph.objects.filter(article__corpus=corpus, position=0)
    found = {
        title: (pk, text) for title, pk, text in rows.values_list("article__title", "pk", "text")
    }
    offered = []
    for titles, payload in named:
        texts = [found[title][1] for title in titles]
        content = "\n".join((corpus.site_name, *titles, *texts))
        offered.append(
            Candidate(
                key=uuid5(NAMESPACE_URL, content).hex,
                text="\n".join(texts),
                paragraphs=tuple(found[title][0] for title in titles),
                payload=payload,
            )
        )
    return offered


def store_replay_seeds(
    collection: Collection,
    protocol: Protocol,
    stage: str,
    offered: Sequence[Candidate] | None = None,
) -> None:
    """Make a seed of `stage` of every candidate: the file, not chance, has chosen them.

    offered: the candidates where the file names them; else they are the protocol's own.
    """
    parameters: Any = parameters_of(collection)
    if offered is None:
        rng = random.Random(collection.random_seed)
        offered = list(protocol.part(SEEDS).candidates(collection.corpus, parameters, rng))
    folds = protocol.part(SPLITS).plan(
        offered,
        parameters,
        random.Random(collection.random_seed),
        planned=Counter(),
        fold_of_text={},
    )
    store_seeds(
        collection,
        [
            (candidate, position, stage, folds.get(candidate.key, ""))
            for position, candidate in enumerate(offered, 1)
        ],
    )
