"""Puts every kept question into its split."""

import random
from datetime import datetime

from django.db import transaction

from annotation.difficulty.examples import kept_questions
from annotation.difficulty.standing import as_example, facts_of, table_of
from annotation.models import Placement
from collector.creation import parameters_of
from collector.models import Collection
from collector.protocol import find


def make_splits(collection: Collection, now: datetime) -> dict[str, int]:
    """Return the number of kept questions per split, placed anew by the protocol's rule.

    Repeatable: the same verdicts, judgements and the collection's seed give the same placements.
    Raises DifficultyError where the protocol places by difficulty and it is not judged yet.
    """
    parameters = parameters_of(collection)
    splits = find(collection.protocol).part("splits")
    rng = random.Random(f"{collection.seed}:splits")
    kept = kept_questions(collection).select_related("seed", "verdict__chosen")
    judged = facts_of(collection, kept) if table_of(collection) else {}
    examples = [
        {
            "question": question,
            "fold": question.seed.fold,
            "key": question.key,
            "worker": question.worker_id,
            **(as_example(judged[question.pk]) if judged else {}),
        }
        for question in kept
    ]
    counts: dict[str, int] = {}
    rows = []
    for example, split, reason in splits.assign(examples, parameters, rng):
        counts[split] = counts.get(split, 0) + 1
        rows.append(
            Placement(question=example["question"], split=split, reason=reason, placed_at=now)
        )
    with transaction.atomic():
        Placement.objects.filter(question__stage__collection=collection).delete()
        Placement.objects.bulk_create(rows, batch_size=500)
    return counts
