"""Leaves everything by one worker out of a dataset, and takes it back; nobody's pay changes."""

from datetime import datetime

from django.db import transaction
from django.db.models import Q

from annotation.decisions.counted_work import excluded_workers
from annotation.decisions.overrides import decide_as_last_by_hand
from annotation.decisions.verdicts import decide_anew, voting_stages
from annotation.models import Exclusion, Verdict
from collector.models import Collection
from collector.protocols.creation import parameters_of
from common.actions import ActionError, said
from tasks.models import Question, Worker, WorkerBlock
from tasks.work import units

SAY_WHY = "Say why: it is kept with your name."


def exclude_worker(
    collection: Collection, worker: Worker, why: str, by: str, now: datetime
) -> Exclusion:
    """Return the logged act by which nothing of the worker's counts or is released any more.

    Their questions are dropped, and the others' are decided by the votes that are left, also
    where a hand had kept one with their answer. They are given no more work of the collection; what
    they hold they may finish. The jobs drop the places that ask about their questions. Nobody's pay
    changes. Raises ActionError without a reason or where it is done already, and ProtocolError.
    """
    why = said(why, SAY_WHY)
    with transaction.atomic():
        _lock(collection)
        if worker.pk in excluded_workers(collection):
            raise ActionError("Everything by this worker is excluded already.")
        made = Exclusion.objects.create(
            collection=collection, worker=worker, why=why, by=by, at=now
        )
        WorkerBlock.objects.get_or_create(collection=collection, worker=worker)
        _decide(collection, worker.pk, now)
    return made


def include_again(exclusion: Exclusion, why: str, by: str, now: datetime) -> None:
    """Count the worker's work again; what was decided by hand is as it was.

    Raises ActionError without a reason or where it was taken back before, and ProtocolError.
    """
    why = said(why, SAY_WHY)
    with transaction.atomic():
        _lock(exclusion.collection)
        rows = Exclusion.objects.filter(pk=exclusion.pk, back_at__isnull=True)
        if not rows.update(back_at=now, back_by=by, back_why=why):
            raise ActionError("It was taken back already.")
        WorkerBlock.objects.filter(
            collection=exclusion.collection_id, worker=exclusion.worker_id
        ).delete()
        units.open_again(exclusion.collection, exclusion.worker)
        _decide(exclusion.collection, exclusion.worker_id, now)


def _decide(collection: Collection, worker_id: str, now: datetime) -> None:
    """Decide anew what the worker's work touches; a hand's decision stands where it can."""
    touched, out = _touched(collection, worker_id), excluded_workers(collection)
    decide_anew(collection, touched, now)
    by_hand = Verdict.objects.filter(question__in=touched, overrides__isnull=False).distinct()
    for verdict in by_hand.select_related("question"):
        decide_as_last_by_hand(verdict, out)


def _lock(collection: Collection) -> None:
    """Let one act on a collection's people go after the other."""
    Collection.objects.select_for_update(no_key=True).get(pk=collection.pk)


def _touched(collection: Collection, worker_id: str) -> list[Question]:
    """Return the questions that the worker wrote or answered, of those that votes decide on."""
    rows = Question.objects.filter(
        Q(worker=worker_id) | Q(answers__worker=worker_id),
        stage__collection=collection,
        stage__name__in=voting_stages(parameters_of(collection)),
    )
    return list(rows.select_related("stage", "seed").distinct().order_by("id"))
