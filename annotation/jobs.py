"""Jobs of long work, and of what was left behind by processes that died."""

from collections.abc import Callable
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone

from annotation.baselines.training_jobs import train_baseline
from annotation.claimed_folders import leftovers, remove_leftovers
from annotation.decisions.verdicts import decide_collection, replace_left_out
from annotation.models import BaselineRun, CrossValidation, Fold, Rehearsal, ReleaseOrder
from annotation.rehearsal.orders import rehearse
from annotation.release.release_folder import left_behind
from annotation.splits.cross_validation import sum_up
from annotation.splits.human_performance import sample_questions
from annotation.splits.training import train_alone
from collector.celery import app
from collector.ingest.documents.uploads import read_upload, remove_files, unneeded_files
from collector.models import Collection, CollectionState, DocumentUpload
from collector.protocols import loading
from collector.protocols.creation import parameters_of
from collector.protocols.loading import ProtocolError
from collector.serving import health
from common.long_work import LongWork
from common.prepared_sql import PreparedQuery
from tasks.lifecycle.maintenance import maintain_alone
from tasks.work import due_work


def half_written() -> list[str]:
    """Return the folders of releases, rehearsals, folds and uploads that nobody is at any more."""
    left = chain.from_iterable(map(left_behind, _bases()))
    return [str(path) for path in [*left, *leftovers(), *unneeded_files()]]


def remove_half_written() -> None:
    """Remove them, and what they brought into place: nobody has been told of any."""
    from annotation.release.publish_release import reconcile

    for base in _bases():
        if any(left_behind(base)):
            reconcile(base)
    remove_leftovers()
    remove_files()


def _bases() -> set[Path]:
    return {Path(settings.RELEASES), settings.HOME / "releases", settings.RANKINGS}


@app.task
def look_after_collection(collection_id: int) -> None:
    """Maintain one collection and decide what its work brought; see tasks.work.due_work.

    Work that was under way is handed in, decided and paid after a pause or the end too.
    """
    collection, now = Collection.objects.get(pk=collection_id), timezone.now()

    def round_of() -> bool:
        try:
            parameters_of(collection)
        except ProtocolError as error:
            loading.log_once(error)
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


def release(order_id: int, now: datetime) -> None:
    """Make the release that an order asks for; a process of the jobs starts without the means."""
    from annotation.release.publish_release import fulfil

    fulfil(order_id, now)


# What takes long: the rows that say what is to do, and what does it.
LONG_WORK: dict[str, tuple[type[LongWork], Callable[[int, datetime], object]]] = {
    "release": (ReleaseOrder, release),
    "upload": (DocumentUpload, read_upload),
    "rehearsal": (Rehearsal, rehearse),
    "fold": (Fold, train_alone),
    "cross-validation": (CrossValidation, sum_up),
    "baseline": (BaselineRun, train_baseline),
}
# Training a reader takes minutes, and nobody waits behind it.
FOR_READERS = ("fold", "baseline")


def _anything(
    now: datetime, latest_collecting: datetime, latest_at_rest: datetime, latest_claim: datetime
) -> QuerySet[Any, Any]:
    """Return what finds a collection that is due, or anything that was asked for and is not over.

    Whether somebody is at that, its job sees. A fold is over when its run is, whatever it says.
    """
    collections = due_work.due_rows(now, latest_collecting, latest_at_rest, latest_claim)
    asked_for = [model for model, _ in LONG_WORK.values() if model is not Fold]
    others = [model._default_manager.filter(state__in=model.GOING_ON) for model in asked_for]
    found = [rows.order_by().values_list("pk") for rows in (collections, *others)]
    return found[0].union(*found[1:], all=True)[:1]


# The clock asks it every two seconds, day and night.
ANYTHING = PreparedQuery(
    _anything,
    **dict.fromkeys(("now", "latest_collecting", "latest_at_rest", "latest_claim"), datetime),
)


def has_due_work() -> bool:
    """Return whether a collection, a release, an upload, a reader or a rehearsal may be due."""
    now = timezone.now()
    latest_collecting, latest_at_rest, latest_claim = due_work.latest(now)
    found = ANYTHING.first(
        now=now,
        latest_collecting=latest_collecting,
        latest_at_rest=latest_at_rest,
        latest_claim=latest_claim,
    )
    return found is not None


@app.task
def look_after_what_is_due() -> None:
    """Look after every collection that is due, and every release, upload, reader and rehearsal."""
    health.record_beat(health.JOBS)
    loading.record(timezone.now())
    for collection_id in due_work.due(timezone.now()):
        look_after_collection.apply_async((collection_id,), expires=settings.MESSAGE_SECONDS)
    for kind, (model, _) in LONG_WORK.items():
        queue = "readers" if kind in FOR_READERS else None
        for pk in model.due(timezone.now()):
            do_long_work.apply_async((kind, pk), expires=settings.MESSAGE_SECONDS, queue=queue)


@app.task
def remove_left_files() -> None:
    """Remove what those who died have left of releases, rehearsals and uploads."""
    remove_half_written()


@app.task
def do_long_work(kind: str, pk: int) -> None:
    """Do what a row asks for, unless somebody else does, or this machine cannot."""
    LONG_WORK[kind][1](pk, timezone.now())
    # Of a process that had it before, and died.
    remove_leftovers()
