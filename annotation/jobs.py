"""Celery jobs of this app: each looks for work that is due in the rows, and does it."""

from collections.abc import Callable, Sized
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone

from annotation.baselines import training_jobs
from annotation.decisions.replacements import replace_left_out
from annotation.decisions.verdicts import decide_collection
from annotation.models import BaselineRun, CrossValidation, Rehearsal, ReleaseOrder
from annotation.readers.human_performance import sample_questions
from annotation.rehearsal.orders import rehearsals_due
from annotation.rehearsal.orders import rehearse as rehearse_alone
from annotation.release.release_jobs import fulfil, orders_to_fulfil
from annotation.splits.difficulty.runs import runs_to_sum_up, sum_up
from annotation.splits.difficulty.training import fail_exhausted, folds_to_train, train_alone
from collector.celery import app
from collector.ingest.documents.uploads import read_upload, uploads_to_read
from collector.models import Collection, CollectionState, DocumentUpload
from collector.protocols import known
from collector.protocols.creation import parameters_of
from collector.protocols.loading import ProtocolError
from collector.serving import liveness
from common.prepared_sql import PreparedQuery
from tasks.lifecycle import due_work
from tasks.lifecycle.maintenance import maintain_alone


@app.task
def look_after_collection(collection_id: int) -> None:
    """Maintain one collection and decide what its work brought; see tasks.lifecycle.due_work.

    Work that was under way is handed in, decided and paid after a pause or the end too.
    """
    collection, now = Collection.objects.get(pk=collection_id), timezone.now()

    def round_of() -> bool:
        try:
            parameters_of(collection)
        except ProtocolError as error:
            known.log_once(error)
            return False
        done = maintain_alone(collection, now)
        # Somebody else was at it: whether that changed anything shows in the next round.
        return decide(collection) > 0 or not done or any(done.values())

    due_work.look_after(collection, now, round_of)


def decide(collection: Collection) -> int:
    """Decide what has enough votes, ask for those that were left out, and sample what is decided.

    Returns how much that was.
    """
    decided = decide_collection(collection, timezone.now())
    if collection.state == CollectionState.COLLECTING:
        decided += replace_left_out(collection)
        decided += sample_questions(collection)
    return decided


# What finds the rows that are due, by what they are.
KINDS_OF_JOBS: dict[str, Callable[[datetime], Sized]] = {
    "collection": due_work.due,
    "release": orders_to_fulfil,
    "upload": uploads_to_read,
    "fold": folds_to_train,
    "cross-validation": runs_to_sum_up,
    "baseline": training_jobs.baselines_to_train,
    "rehearsal": rehearsals_due,
}


def _anything(
    now: datetime, latest_collecting: datetime, latest_at_rest: datetime
) -> QuerySet[Any, Any]:
    """Return what finds a collection that is due, or anything that was asked for and is not over.

    Whether somebody is at that, its job sees.
    """
    collections = due_work.due_rows(now, latest_collecting, latest_at_rest)
    asked_for = (ReleaseOrder, DocumentUpload, CrossValidation, BaselineRun, Rehearsal)
    others = [model.objects.filter(state__in=model.GOING_ON) for model in asked_for]
    found = [rows.order_by().values_list("pk") for rows in (collections, *others)]
    return found[0].union(*found[1:], all=True)[:1]


# The clock asks it every two seconds, day and night.
ANYTHING = PreparedQuery(
    _anything, now=datetime, latest_collecting=datetime, latest_at_rest=datetime
)


def has_due_work() -> bool:
    """Return whether a collection, a release, an upload, a reader or a rehearsal may be due."""
    now = timezone.now()
    latest_collecting, latest_at_rest = due_work.latest(now)
    found = ANYTHING.first(
        now=now, latest_collecting=latest_collecting, latest_at_rest=latest_at_rest
    )
    return found is not None


@app.task
def look_after_what_is_due() -> None:
    """Look after every collection that is due, and every release, upload, reader and rehearsal."""
    liveness.record_beat(liveness.JOBS)
    known.record(timezone.now())
    for collection_id in due_work.due(timezone.now()):
        # Dropped where nobody takes it up before it is sent again.
        look_after_collection.apply_async((collection_id,), expires=settings.POLL_SECONDS)
    for order_id in orders_to_fulfil(timezone.now()):
        fulfil_order.delay(order_id)
    for upload_id in uploads_to_read(timezone.now()):
        read_documents.apply_async((upload_id,), expires=settings.POLL_SECONDS)
    for rehearsal_id in rehearsals_due(timezone.now()):
        rehearse.apply_async((rehearsal_id,), expires=settings.POLL_SECONDS)
    judge_what_is_due()
    training_jobs.fail_exhausted(timezone.now())
    for run_id in training_jobs.baselines_to_train(timezone.now()):
        train_baseline.apply_async((run_id,), expires=settings.POLL_SECONDS)


@app.task
def fulfil_order(order_id: int) -> None:
    """Make the release that a requester has asked for."""
    fulfil(order_id, timezone.now())


@app.task
def read_documents(upload_id: int) -> None:
    """Have the documents read that a requester has sent."""
    read_upload(upload_id, timezone.now())


@app.task
def rehearse(rehearsal_id: int) -> None:
    """Rehearse a copy of a collection, unless another is under way."""
    rehearse_alone(rehearsal_id, timezone.now())


def judge_what_is_due() -> None:
    """Have every fold trained that nobody is at, and end what a dead worker left.

    A message nobody takes up before the next look is dropped: folds are long, and rows say what
    is to do.
    """
    now = timezone.now()
    fail_exhausted(now)
    for fold_id in folds_to_train(now):
        train_fold.apply_async((fold_id,), expires=settings.POLL_SECONDS)
    for run_id in runs_to_sum_up(now):
        sum_up_run.delay(run_id)


@app.task
def train_fold(fold_id: int) -> None:
    """Train one fold of a cross-validation, unless somebody else has it."""
    train_alone(fold_id)


@app.task
def train_baseline(run_id: int) -> None:
    """Train one baseline on a release, unless somebody else does or this machine cannot."""
    training_jobs.train_baseline(run_id)


@app.task
def sum_up_run(run_id: int) -> None:
    """Sum a cross-validation up whose folds are done."""
    sum_up(run_id, timezone.now())
