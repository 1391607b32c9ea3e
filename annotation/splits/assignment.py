"""Puts every kept question into its split."""

import random
from collections import Counter
from datetime import datetime
from itertools import islice

from django.db import transaction

from annotation.models import SplitAssignment
from annotation.splits.difficulty.examples import kept_questions
from annotation.splits.difficulty.status import as_example, facts_of, table_of
from annotation.splits.settled import last_withholding, settled
from collector.models import Collection
from collector.protocols.creation import parameters_of
from collector.protocols.loading import get_protocol
from collector.seeds.candidate import Example
from collector.seeds.seed_contracts import SPLITS

CHUNK = 2000


def make_splits(collection: Collection, now: datetime) -> dict[str, int]:
    """Return the number of kept questions per split, placed anew by the protocol's rule.

    Repeatable: the same verdicts, predictions and the collection's seed give the same assignments.
    Where answers of splits are withheld, a release settles what it placed: only what came since is
    placed, and what was in the open then never enters a withheld split.
    Raises ActionError where the protocol places by difficulty and it is not judged yet.
    """
    parameters = parameters_of(collection)
    splits = get_protocol(collection.protocol).part(SPLITS)
    rng = random.Random(f"{collection.random_seed}:splits")
    released, stay = last_withholding(collection), settled(collection)
    kept = kept_questions(collection).exclude(split_assignment__in=stay)
    judged = None
    if table_of(collection):
        answered = kept.select_related("verdict__chosen").iterator(CHUNK)
        judged = facts_of(collection, answered)
    # Of each question only what decides its split: a collection can have a hundred thousand.
    ids: dict[str, int] = {}
    examples: list[Example] = []
    columns = ("pk", "key", "seed__fold", "worker_id", "created_at")
    for pk, key, fold, worker, created_at in kept.values_list(*columns).iterator(CHUNK):
        if judged is not None and pk not in judged:
            # It was kept meanwhile, and has its place the next time.
            continue
        ids[key] = pk
        examples.append(
            {
                "fold": fold,
                "key": key,
                "worker": worker,
                "published": bool(released and created_at <= released),
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
        SplitAssignment.objects.filter(question__stage__collection=collection).exclude(
            pk__in=stay.values("pk")
        ).delete()
        while chunk := list(islice(rows, CHUNK)):
            SplitAssignment.objects.bulk_create(chunk, batch_size=500)
            counts.update(row.split for row in chunk)
    return dict(counts)
