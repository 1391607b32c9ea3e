"""Celery jobs of this app: each looks for work that is due in the rows, and does it."""

from django.conf import settings
from django.utils import timezone

from annotation.decisions.verdicts import decide_collection
from annotation.readers.human_performance import sample_questions
from annotation.release.release_jobs import fulfil, orders_to_fulfil
from annotation.splits.difficulty.runs import runs_to_sum_up, sum_up
from annotation.splits.difficulty.training import fail_exhausted, folds_to_train, train_alone
from collector.celery import app
from collector.models import Collection, CollectionState


@app.task
def decide(collection_id: int) -> None:
    """Decide what has enough votes, and sample for the second reading what is decided."""
    collection = Collection.objects.get(pk=collection_id)
    decide_collection(collection, timezone.now())
    if collection.state == CollectionState.COLLECTING:
        sample_questions(collection)


@app.task
def decide_all() -> None:
    """Look after every collection that is not a draft, and every release asked for.

    Work that was under way is handed in after a pause or the end too.
    """
    for collection in Collection.objects.exclude(state=CollectionState.DRAFT):
        decide.delay(collection.pk)
    for order_id in orders_to_fulfil(timezone.now()):
        fulfil_order.delay(order_id)
    judge_what_is_due()


@app.task
def fulfil_order(order_id: int) -> None:
    """Make the release that a requester has asked for."""
    fulfil(order_id, timezone.now())


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
def sum_up_run(run_id: int) -> None:
    """Sum a cross-validation up whose folds are done."""
    sum_up(run_id, timezone.now())
