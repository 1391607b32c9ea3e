"""Draws the sample of top contributors' questions, and keeps what people decide about them."""

from collections.abc import Mapping
from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet

from annotation.models import HopDecision, Hops, SampledQuestion
from annotation.splits.difficulty.examples import kept_questions
from annotation.splits.difficulty.parameters import DifficultyTable
from annotation.splits.difficulty.sampling import draw, sample_size, top_contributors
from collector.models import Collection


def draw_sample(collection: Collection, table: DifficultyTable) -> int:
    """Return how many questions were drawn: those of top contributors who have none yet.

    Whom to sample follows from what is kept now; a worker's sample, once drawn, stays as long as
    one of its questions is kept.
    """
    with transaction.atomic():
        Collection.objects.select_for_update().get(pk=collection.pk)
        ids = {key: (pk, worker) for pk, key, worker in _written(collection)}
        keys: dict[str, list[str]] = {}
        for key, (_, worker) in ids.items():
            keys.setdefault(worker, []).append(key)
        n_most = max(map(len, keys.values()), default=0)
        rows = [
            SampledQuestion(
                collection=collection, worker_id=worker, question_id=ids[key][0], position=place
            )
            for worker in _new(collection, keys, table)
            for place, key in enumerate(
                draw(keys[worker], sample_size(len(keys[worker]), n_most, table), collection.seed)
            )
        ]
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


def _written(collection: Collection) -> list[tuple[int, str, str]]:
    rows = kept_questions(collection).filter(worker__isnull=False)
    return list(rows.values_list("pk", "key", "worker_id"))


def _new(
    collection: Collection, keys: Mapping[str, list[str]], table: DifficultyTable
) -> list[str]:
    have = set(sampled(collection).values_list("worker_id", flat=True))
    return [worker for worker in top_contributors(keys, table.sampled_share) if worker not in have]
