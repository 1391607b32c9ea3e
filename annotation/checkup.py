"""What a crash can leave of jobs and files; jobs are taken up again by what runs them."""

from collections.abc import Iterable
from datetime import timedelta

from django.utils import timezone

from annotation import jobs
from annotation.jobs import half_written, remove_half_written
from annotation.models import Release
from collector.models import Collection
from collector.serving import backups
from common.checkup import Check, index_check
from common.long_work import WorkState
from tasks.work import due_work

# Work under way gives a sign every few seconds: after this long without one a person should look.
OVERDUE = timedelta(minutes=10)


def silent_jobs() -> list[str]:
    """Return the jobs that somebody had taken up and gives no sign of."""
    return [f"{kind} {pk}" for kind, pk in _silent()]


def _silent() -> Iterable[tuple[str, int]]:
    now = timezone.now()
    for kind, (model, _) in jobs.LONG_WORK.items():
        rows = model.free(now).filter(state=WorkState.RUNNING, free_at__lt=now - OVERDUE)
        for pk in rows.values_list("pk", flat=True):
            yield kind, pk


def take_up() -> None:
    """Do them now, as whoever takes a job up would; what was tried too often is given up."""
    for kind, pk in _silent():
        jobs.do_long_work(kind, pk)


def held_collections() -> list[str]:
    """Return the collections that are due for long, and nobody looks at."""
    now = timezone.now()
    late = Collection.objects.filter(pk__in=due_work.due(now), look_at__lt=now - OVERDUE)
    return [row.slug for row in late]


def look_at_held() -> None:
    """Look after them now."""
    for row in Collection.objects.filter(slug__in=held_collections()):
        jobs.look_after_collection(row.pk)


def lost_releases() -> list[str]:
    """Return the releases whose files are not in their folder."""
    return [f"{row}: {row.place}" for row in Release.objects.all() if not row.place.is_dir()]


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
        "A release, an upload or the copy of a rehearsal was being written when its process died.",
        "removes it, and what it brought into place without its row",
        half_written,
        remove_half_written,
    ),
    Check(
        "releases without files",
        "A release's folder is gone: put it back from a copy. Releasing again makes it where "
        "nothing has changed since.",
        "",
        lost_releases,
    ),
    Check(
        "backups",
        "The backup is stale, or a copy of it could not be restored.",
        "",
        backups.problems,
    ),
    index_check("default", ("collector", "tasks", "annotation")),
)
