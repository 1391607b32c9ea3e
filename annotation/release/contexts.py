"""Finds what systems read to answer each question of a dataset, once, before its release."""

import random
from collections.abc import Callable, Mapping, Sequence

from django.db.models import QuerySet

from annotation.models import Context
from annotation.protocols.contracts import CONTEXTS, ContextsPart
from annotation.records.schema import IMPORTED
from annotation.splits.kept_questions import kept_questions
from collector.ingest.segmentation import split, version
from collector.models import Collection, Paragraph
from collector.protocols.creation import parameters_of
from collector.protocols.loading import get_protocol
from collector.protocols.parameters import Parameters
from collector.retrieval.files import index_of
from tasks.models import Question

AT_ONCE = 200


def find_contexts(collection: Collection, say: Callable[[str], object] = lambda step: None) -> int:
    """Return how many contexts were missing of placed questions, and store them.

    `say` hears how far it is before each portion; what it raises ends the search, and what was
    stored until then stays.

    A protocol with the part `contexts` says which there are. What is stored stays: releases are the
    same, whatever the corpus becomes. Raises RetrievalError where the index is to be built first.
    """
    protocol = get_protocol(collection.protocol)
    if not protocol.has(CONTEXTS):
        return 0
    part, parameters = protocol.part(CONTEXTS), parameters_of(collection)
    # What was published elsewhere has its contexts in its files.
    rows = (
        kept_questions(collection)
        .filter(split_assignment__isnull=False)
        .exclude(payload__has_key=IMPORTED)
    )
    splits = dict(rows.values_list("key", "split_assignment__split"))
    of_collection = Context.objects.filter(question__stage__collection=collection)
    stored = set(of_collection.values_list("question__key", "setting"))
    wanted = part.wanted(splits, parameters)
    missing = {
        key: [setting for setting in settings if (key, setting) not in stored]
        for key, settings in wanted.items()
    }
    keys = [key for key, settings in missing.items() if settings]
    for start in range(0, len(keys), AT_ONCE):
        say(f"Finding contexts: {start} of {len(keys)} questions done")
        some = rows.filter(key__in=keys[start : start + AT_ONCE])
        _store(collection, part, parameters, some, missing)
    return sum(map(len, missing.values()))


def _store(
    collection: Collection,
    part: ContextsPart[Parameters],
    parameters: Parameters,
    rows: QuerySet[Question],
    missing: Mapping[str, Sequence[str]],
) -> None:
    index = index_of(collection.corpus)
    made = []
    for question in rows.select_related("verdict__chosen").prefetch_related(
        "seed__seed_paragraphs"
    ):
        for setting in missing[question.key]:
            rng = random.Random(f"{collection.random_seed}:contexts:{setting}:{question.key}")
            made.append(part.context(index, setting, question, parameters, rng))
    _cut({each for context in made for each in context.paragraphs}, collection.corpus.language)
    # Whoever was quicker has stored the same.
    Context.objects.bulk_create(made, ignore_conflicts=True)


def _cut(paragraphs: set[int], language: str) -> None:
    """Find the sentences of the paragraphs in which none were looked for."""
    rows = list(Paragraph.objects.filter(pk__in=paragraphs, sentences__isnull=True).order_by("pk"))
    for row in rows:
        row.sentences, row.splitter = split(row.text, language), version()
    Paragraph.objects.bulk_update(rows, ["sentences", "splitter"])
