"""What the rows say of jobs: how many are due, and for how long the oldest has been."""

from collections.abc import Iterator

from django.db.models import Min
from django.utils import timezone

from annotation.jobs import LONG_WORK
from collector.models import Collection
from collector.serving import backups, health
from common.metrics import Row, RowMetrics, seconds_since
from tasks.work import due_work


def jobs() -> Iterator[Row]:
    """Yield how much of each kind somebody would take up now."""
    now = timezone.now()
    yield ("collection",), (len(due_work.due(now)),)
    for kind, (model, _) in LONG_WORK.items():
        yield (kind,), (len(model.due(now)),)


def queue_age() -> Iterator[Row]:
    """Yield for how long the collection that was due first has waited to be looked at."""
    now = timezone.now()
    due = Collection.objects.filter(pk__in=due_work.due(now))
    yield (), (seconds_since(due.aggregate(at=Min("look_at"))["at"], now),)


def parts() -> Iterator[Row]:
    """Yield which parts of the work have given a sign lately."""
    for name in (health.CLOCK, health.JOBS, health.DIALOGS):
        yield (name,), (health.is_alive(name),)


def backup() -> Iterator[Row]:
    """Yield how far behind the backup is, where there is one."""
    now = timezone.now()
    if known := backups.status():
        age, tried = known.ages(now)
        yield (), (age, now.timestamp() > known.stale_at, known.behind_bytes, tried)


def backup_problems() -> Iterator[Row]:
    """Yield how much stands against relying on the backup."""
    yield (), (len(backups.problems()),)


METRICS = (
    RowMetrics({"jobs_due": "Work that a job would take up now"}, ("kind",), jobs),
    RowMetrics(
        {"queue_age_seconds": "Since when a collection is due to be looked at"}, (), queue_age
    ),
    RowMetrics(
        {
            "backup_age_seconds": "Since when nothing is known to be in the backup",
            "backup_stale": "Whether that is longer than one look at the site may take",
            "backup_behind_bytes": "What PostgreSQL has written and the backup not received",
            "backup_restored_seconds": "Since when no copy was restored to try it",
        },
        (),
        backup,
    ),
    RowMetrics({"backup_problems": "What stands against relying on it"}, (), backup_problems),
    RowMetrics(
        {"part_alive": "Whether a part has given a sign in the last minute"}, ("part",), parts
    ),
)
