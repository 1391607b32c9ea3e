"""Puts every kept question into its split."""

import random
from collections import Counter
from datetime import datetime

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
    kept = (
        kept_questions(collection)
        .exclude(split_assignment__in=stay)
        .select_related("seed", "verdict__chosen")
    )
    judged = facts_of(collection, kept) if table_of(collection) else {}
    questions = {question.key: question for question in kept}
    examples: list[Example] = [
        {
            "fold": question.seed.fold,
            "key": question.key,
            "worker": question.worker_id,
            "published": bool(released and question.created_at <= released),
            **(as_example(judged[question.pk]) if judged else {}),
        }
        for question in kept
    ]
    placed = kept_questions(collection).filter(split_assignment__in=stay)
    counts = dict(Counter(placed.values_list("split_assignment__split", flat=True)))
    rows = []
    for example, split, reason in splits.assign(examples, parameters, rng):
        counts[split] = counts.get(split, 0) + 1
        rows.append(
            SplitAssignment(
                question=questions[str(example["key"])], split=split, reason=reason, placed_at=now
            )
        )
    with transaction.atomic():
        SplitAssignment.objects.filter(question__stage__collection=collection).exclude(
            pk__in=stay.values("pk")
        ).delete()
        SplitAssignment.objects.bulk_create(rows, batch_size=500)
    return counts
