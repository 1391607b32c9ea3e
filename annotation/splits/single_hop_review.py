"""Draws the sample of top contributors' questions, and keeps what people decide about them."""

import random
from collections.abc import Mapping, Sequence
from datetime import datetime
from fractions import Fraction

from django.db import transaction
from django.db.models import QuerySet

from annotation.models import HopDecision, Hops, SampledQuestion
from annotation.protocols.contracts import DifficultyTable
from annotation.splits.kept_questions import kept_questions
from collector.models import Collection


def draw_sample(collection: Collection, table: DifficultyTable) -> int:
    """Return how many questions were drawn: those of top contributors who have none yet.

    Whom to sample follows from what is kept now; a worker's sample, once drawn, stays as long as
    one of its questions is kept. Locks the collection.
    """
    with transaction.atomic():
        Collection.objects.select_for_update().get(pk=collection.pk)
        written = kept_questions(collection).filter(worker__isnull=False)
        ids: dict[str, int] = {}
        keys: dict[str, list[str]] = {}
        for pk, key, worker in written.values_list("pk", "key", "worker_id"):
            ids[key] = pk
            keys.setdefault(worker, []).append(key)
        n_most = max(map(len, keys.values()), default=0)
        have = set(sampled(collection).values_list("worker_id", flat=True))
        rows = []
        for worker in top_contributors(keys, table.sampled_share):
            if worker not in have:
                own, size = keys[worker], sample_size(len(keys[worker]), n_most, table)
                for place, key in enumerate(draw(own, size, collection.random_seed)):
                    rows.append(
                        SampledQuestion(
                            collection=collection,
                            worker_id=worker,
                            question_id=ids[key],
                            position=place,
                        )
                    )
        SampledQuestion.objects.bulk_create(rows)
    return len(rows)


def sampled(collection: Collection) -> QuerySet[SampledQuestion]:
    """Return the drawn questions that are still in the dataset, of workers who still take part."""
    kept = kept_questions(collection).order_by()
    return SampledQuestion.objects.filter(collection=collection, question__in=kept)


def mark_question(row: SampledQuestion, hops: Hops, by: str, now: datetime) -> None:
    """Keep what a person reads in a sampled question; UNMARKED takes their mark back."""
    marked = hops != Hops.UNMARKED
    SampledQuestion.objects.filter(pk=row.pk).update(
        hops=hops, marked_by=by if marked else "", marked_at=now if marked else None
    )


def decide(
    collection: Collection, worker_id: str, single_hop: bool | None, by: str, now: datetime
) -> HopDecision:
    """Record what all questions of a worker count as; None takes the last decision back."""
    return HopDecision.objects.create(
        collection=collection, worker_id=worker_id, single_hop=single_hop, by=by, at=now
    )


def decisions(collection: Collection) -> dict[str, HopDecision]:
    """Return each worker's newest decision, without those that were taken back; one query."""
    newest = {row.worker_id: row for row in HopDecision.objects.filter(collection=collection)}
    return {worker: row for worker, row in newest.items() if row.single_hop is not None}


def undecided(collection: Collection) -> list[str]:
    """Return the workers with a sample that nobody has decided about; two queries."""
    rows = sampled(collection).order_by("pk")
    known = decisions(collection)
    workers = dict.fromkeys(rows.values_list("worker_id", flat=True))
    return [worker for worker in workers if worker not in known]


def suggested(marks: Mapping[str, int], table: DifficultyTable) -> bool | None:
    """Return what the marks of a whole sample suggest, None while one of them is missing.

    marks: how many questions were marked as each of Hops.
    """
    n_marked = marks.get(Hops.SINGLE, 0) + marks.get(Hops.MULTI, 0)
    if not n_marked or marks.get(Hops.UNMARKED, 0):
        return None
    return marks.get(Hops.SINGLE, 0) >= table.single_hop_share * n_marked


def top_contributors(keys: Mapping[str, Sequence[str]], share: float) -> list[str]:
    """Return the fewest workers who together wrote more than `share` of the questions.

    keys: the keys of each worker's questions. Those with most come first; of equal ones the one
    whose first key comes first, so that the order does not depend on workers' random ids.
    """
    ranked = sorted(keys, key=lambda worker: (-len(keys[worker]), min(keys[worker])))
    wanted = Fraction(str(share)) * sum(len(each) for each in keys.values())
    chosen: list[str] = []
    have = 0
    for worker in ranked:
        if have > wanted:
            break
        chosen.append(worker)
        have += len(keys[worker])
    return chosen


def sample_size(n_questions: int, n_most: int, table: DifficultyTable) -> int:
    """Return how many questions are drawn of a worker who wrote `n_questions`.

    Between the least and the most, in proportion to the worker who wrote most, `n_most`; never
    more than there are (HotpotQA 3, "3–10 per Turker").
    """
    wanted = max(table.min_sample, round(Fraction(table.max_sample * n_questions, n_most)))
    return min(wanted, table.max_sample, n_questions)


def draw(keys: Sequence[str], number: int, seed: int) -> list[str]:
    """Return `number` of a worker's keys, the same for the same keys and seed."""
    rng = random.Random(f"{seed}:hops:{min(keys)}")
    return rng.sample(sorted(keys), number)
