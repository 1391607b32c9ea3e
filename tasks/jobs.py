"""What Celery runs for the workers' side: look now, and find the work in rows."""

import random

from django.utils import timezone

from collector.celery import app
from collector.serving import health
from common.prepared_sql import PreparedQuery
from tasks.dialog.maintenance import maintain_dialogs, stages_to_maintain
from tasks.models import Ticket, TicketState
from tasks.work import due_work

OPEN_DIALOG = PreparedQuery(
    lambda: Ticket.objects.exclude(state=TicketState.DONE).order_by().values_list("pk")[:1]
)


def has_open_dialogs() -> bool:
    """Return whether anybody waits or talks."""
    return OPEN_DIALOG.first() is not None


@app.task
def look_after_dialogs() -> None:
    """Pair those who wait, end and settle dialogs that cannot go on; every second or two."""
    health.record_beat(health.DIALOGS)
    for stage in stages_to_maintain():
        done = maintain_dialogs(stage, timezone.now(), random.SystemRandom())
        if any(done.values()):
            due_work.wake(stage.collection_id)
