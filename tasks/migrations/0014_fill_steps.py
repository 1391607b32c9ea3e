"""Orders what happened before there were steps: as rows were written, joined by their times."""

from heapq import merge
from itertools import islice

from django.db import migrations

BATCH = 1000


def fill(apps, schema_editor):
    Lease = apps.get_model("tasks", "Lease")
    Submission = apps.get_model("tasks", "Submission")
    Step = apps.get_model("tasks", "Step")
    taken = Lease.objects.order_by("pk").values_list("taken_at", "pk")
    handed_in = Submission.objects.order_by("pk").values_list("received_at", "lease_id")
    events = merge(
        monotonous(taken.iterator(BATCH), 0, "taken"),
        monotonous(handed_in.iterator(BATCH), 1, "handed in"),
        key=lambda event: event[:2],
    )
    steps = (Step(lease_id=lease, kind=kind) for _, _, lease, kind in events)
    while batch := list(islice(steps, BATCH)):
        Step.objects.bulk_create(batch)


def monotonous(rows, rank, kind):
    """Yield (time, rank, lease, kind); no time is before that of a row written earlier."""
    latest = None
    for at, lease in rows:
        latest = at if latest is None else max(latest, at)
        yield latest, rank, lease, kind


class Migration(migrations.Migration):

    dependencies = [("tasks", "0013_steps")]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop, elidable=True)]
