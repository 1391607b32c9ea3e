"""Which accounts are simulated; whose times were observed, people's alone; what is done once."""

import re
from datetime import UTC, datetime
from typing import Any

from django.db import migrations, models

# How simulated workers were called before they could say that they are.
NAMED = re.compile(r"Simulated worker \d+ of .+ \(.*\)|Replayed worker \d+ of .+")
MOST_OBSERVED = 101


def mark(apps: Any, editor: Any) -> None:
    """Mark the accounts that programs signed in with; take their times and their pay out."""
    Worker = apps.get_model("marketplace", "Worker")
    HITType = apps.get_model("marketplace", "HITType")
    Assignment = apps.get_model("marketplace", "Assignment")
    named = Worker.objects.filter(display_name__contains=" worker ")
    keys = [pk for pk, name in named.values_list("pk", "display_name") if NAMED.fullmatch(name)]
    for start in range(0, len(keys), 500):
        Worker.objects.filter(pk__in=keys[start : start + 500]).update(is_simulated=True)
    PayoutLine = apps.get_model("marketplace", "PayoutLine")
    listed = PayoutLine.objects.filter(worker__is_simulated=True, payout=None, dropped_at=None)
    listed.update(dropped_at=datetime.now(UTC))
    for kind in HITType.objects.only("pk"):
        handed_in = Assignment.objects.filter(
            hit__hit_type=kind.pk, submitted_at__isnull=False, worker__is_simulated=False
        )
        latest = handed_in.order_by("-submitted_at", "-pk")[:MOST_OBSERVED]
        times = [
            [worker, max(1, int((end - start).total_seconds()))]
            for worker, start, end in latest.values_list("worker", "accepted_at", "submitted_at")
        ]
        if times:
            HITType.objects.filter(pk=kind.pk).update(recent_work=times[::-1])


class Migration(migrations.Migration):
    """Adds the mark of simulated workers and renews what was observed."""

    dependencies = [("marketplace", "0007_message_of_a_grant")]

    operations = [
        migrations.AddField(
            model_name="worker",
            name="is_simulated",
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name="assignment",
            name="is_extended",
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name="hittype",
            name="is_once",
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name="hittype",
            name="is_one_at_a_time",
            field=models.BooleanField(default=False),
        ),
        migrations.RemoveField(model_name="hittype", name="recent_seconds"),
        migrations.AddField(
            model_name="hittype",
            name="recent_work",
            field=models.JSONField(default=list),
        ),
        migrations.RunPython(mark, migrations.RunPython.noop),
    ]
