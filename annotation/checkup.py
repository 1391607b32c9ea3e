"""What a crash can leave of jobs and files; jobs are taken up again by what runs them."""

import shutil
import time
from collections.abc import Callable, Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils import timezone

from annotation import jobs
from annotation.models import BaselineRun, Fold, Rehearsal, ReleaseOrder
from annotation.rehearsal.orders import leftovers, throw_leftovers_away
from collector.models import Collection, DocumentUpload
from common.checkup import Check, index_check
from tasks.lifecycle import due_work

# Whoever is at work gives a sign every few seconds.
SILENT = timedelta(minutes=10)
# Nobody writes a release for longer.
HALF_WRITTEN_SECONDS = 6 * 3600
KINDS: tuple[tuple[str, type[Any], Callable[[int], object]], ...] = (
    ("release", ReleaseOrder, jobs.fulfil_order),
    ("upload", DocumentUpload, jobs.read_documents),
    ("fold", Fold, jobs.train_fold),
    ("baseline", BaselineRun, jobs.train_baseline),
    ("rehearsal", Rehearsal, jobs.rehearse),
)


def silent_jobs() -> list[str]:
    """Return the jobs that somebody had taken up and gives no sign of."""
    return [f"{kind} {row.pk}" for kind, row, _ in _silent()]


def _silent() -> Iterable[tuple[str, Any, Callable[[int], object]]]:
    before = timezone.now() - SILENT
    for kind, model, job in KINDS:
        for row in model.objects.filter(state="running", seen_at__lt=before):
            yield kind, row, job


def take_up() -> None:
    """Do them now, as whoever takes a job up would; what has failed too often is given up."""
    jobs.fail_exhausted(timezone.now())
    jobs.training_jobs.fail_exhausted(timezone.now())
    for _, row, job in _silent():
        job(row.pk)


def held_collections() -> list[str]:
    """Return the collections that are due for long, and nobody looks at."""
    now = timezone.now()
    late = Collection.objects.filter(pk__in=due_work.due(now), look_at__lt=now - SILENT)
    return [row.slug for row in late]


def look_at_held() -> None:
    """Look after them now."""
    for row in Collection.objects.filter(slug__in=held_collections()):
        jobs.look_after_collection(row.pk)


def half_written() -> list[str]:
    """Return the folders of releases that were begun and never put in place, and of rehearsals."""
    return [str(path) for path in [*_half_written(), *leftovers()]]


def _half_written() -> Iterable[Path]:
    before = time.time() - HALF_WRITTEN_SECONDS
    for base in {settings.RELEASES, settings.HOME / "releases", settings.RANKINGS}:
        for path in Path(base).glob(".*.????????"):
            if path.is_dir() and path.stat().st_mtime < before:
                yield path


def remove_half_written() -> None:
    """Remove them: nobody has been told of any."""
    for path in _half_written():
        shutil.rmtree(path, ignore_errors=True)
    throw_leftovers_away()


CHECKS = (
    Check(
        "jobs",
        "Whoever had taken a release, upload, fold, baseline or rehearsal up has died.",
        "does it now, in this process, which may take minutes",
        silent_jobs,
        take_up,
    ),
    Check(
        "collections nobody looks at",
        "A collection has been due for minutes: the jobs or their clock do not run.",
        "looks after it once; start collector-jobs and collector-clock",
        held_collections,
        look_at_held,
    ),
    Check(
        "half-written files",
        "A release or the copy of a rehearsal was being written when its process died.",
        "removes it: what is whole has another name",
        half_written,
        remove_half_written,
    ),
    index_check("default", ("collector", "tasks", "annotation")),
)
