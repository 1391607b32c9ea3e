"""Puts every kept question into its split."""

import random
from collections import Counter
from datetime import datetime
from itertools import islice

from django.db import transaction

from annotation.models import SplitAssignment
from annotation.protocols.contracts import EXPORT
from annotation.splits.difficulty.examples import kept_questions
from annotation.splits.difficulty.status import as_example, facts_of, table_of
from annotation.splits.evidence import resting_on
from annotation.splits.settled import settled, told_splits
from collector.models import Collection
from collector.protocols.creation import parameters_of
from collector.protocols.loading import get_protocol
from collector.seeds.candidate import Example
from collector.seeds.seed_contracts import SPLITS

CHUNK = 2000


def make_splits(collection: Collection, now: datetime) -> dict[str, int]:
    """Return the number of kept questions per split, placed anew by the protocol's rule.

    Repeatable: the same verdicts, predictions and the collection's seed give the same assignments.
    Where answers of splits are withheld, a release settles what it placed: only other questions are
    placed, and those whose answers it told never enter a withheld split.
    Raises ActionError where the protocol places by difficulty and it is not judged yet.
    """
    parameters = parameters_of(collection)
    splits = get_protocol(collection.protocol).part(SPLITS)
    rng = random.Random(f"{collection.random_seed}:splits")
    withheld = get_protocol(collection.protocol).part(EXPORT).WITHHELD
    told, stay = told_splits(collection), settled(collection)
    kept = kept_questions(collection).exclude(split_assignment__in=stay)
    judged = None
    if table_of(collection):
        answered = kept.select_related("verdict__chosen").iterator(CHUNK)
        judged = facts_of(collection, answered)
    rests_on = resting_on(collection, kept)
    # Of each question only what decides its split: a collection can have a hundred thousand.
    ids: dict[str, int] = {}
    examples: list[Example] = []
    columns = ("pk", "key", "seed__fold", "worker_id")
    for pk, key, fold, worker in kept.values_list(*columns).iterator(CHUNK):
        if judged is not None and pk not in judged:
            # It was kept meanwhile, and has its place the next time.
            continue
        ids[key] = pk
        examples.append(
            {
                "fold": fold,
                "key": key,
                "worker": worker,
                "published": pk in told and told[pk] not in withheld,
                "rests_on": rests_on.get(pk, {}),
                **(as_example(judged[pk]) if judged else {}),
            }
        )
    placed = kept_questions(collection).filter(split_assignment__in=stay)
    counts = Counter(placed.values_list("split_assignment__split", flat=True).iterator(CHUNK))
    rows = (
        SplitAssignment(
            question_id=ids[str(example["key"])], split=split, reason=reason, placed_at=now
        )
        for example, split, reason in splits.assign(examples, parameters, rng)
    )
    with transaction.atomic():
        # A release stores what it tells before or after this, and not meanwhile.
        Collection.objects.select_for_update(no_key=True).get(pk=collection.pk)
        # What one has told since has its place by it, or has it the next time.
        since = {pk for pk, split in told_splits(collection).items() if told.get(pk) != split}
        SplitAssignment.objects.filter(question__stage__collection=collection).exclude(
            pk__in=stay.values("pk")
        ).delete()
        fresh = (row for row in rows if row.question_id not in since)
        while chunk := list(islice(fresh, CHUNK)):
            SplitAssignment.objects.bulk_create(chunk, batch_size=500)
            counts.update(row.split for row in chunk)
    return dict(counts)
