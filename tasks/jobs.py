"""What Celery runs for the workers' side: look now, and find the work in rows."""

import random

from django.utils import timezone

from collector.celery import app
from collector.models import Collection, CollectionState
from collector.serving import liveness
from tasks.dialog.dialog_maintenance import maintain_dialogs, stages_to_maintain
from tasks.lifecycle.maintenance import maintain_alone
from tasks.models import Worker
from tasks.people import eligibility


@app.task
def maintain_collection(collection_id: int) -> None:
    """Maintain one collection; a second job that comes meanwhile has nothing to do."""
    maintain_alone(Collection.objects.get(pk=collection_id), timezone.now())


@app.task
def look_at_worker(worker_id: str, collection_id: int) -> None:
    """Find out, and tell, which stages have no work for somebody who has just taken some."""
    eligibility.update_eligibility_of(
        Worker.objects.get(pk=worker_id), Collection.objects.get(pk=collection_id)
    )


@app.task
def maintain_all() -> None:
    """Look after every collection that is not a draft; money is settled after the end too."""
    liveness.record_beat(liveness.JOBS)
    for collection in Collection.objects.exclude(state=CollectionState.DRAFT):
        maintain_collection.delay(collection.pk)


@app.task
def look_after_dialogs() -> None:
    """Pair those who wait, end and settle dialogs that cannot go on; every second or two."""
    liveness.record_beat(liveness.DIALOGS)
    for stage in stages_to_maintain():
        maintain_dialogs(stage, timezone.now(), random.SystemRandom())
