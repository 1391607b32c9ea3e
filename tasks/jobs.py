"""What Celery runs for the workers' side: look now, and find the work in rows."""

from datetime import timedelta

from celery import shared_task
from django.db.models import Q
from django.utils import timezone

from collector.models import Collection, CollectionState
from tasks.tending import tend

LONGEST = timedelta(minutes=5)


@shared_task
def tend_collection(collection_id: int) -> None:
    """Tend one collection; a second job that comes meanwhile has nothing to do.

    The claim runs out by itself, so that a job that died does not block the next one.
    """
    now = timezone.now()
    free = Q(tended_until__isnull=True) | Q(tended_until__lt=now)
    claimed = Collection.objects.filter(free, pk=collection_id).update(tended_until=now + LONGEST)
    if claimed:
        try:
            tend(Collection.objects.get(pk=collection_id), now)
        finally:
            Collection.objects.filter(pk=collection_id).update(tended_until=None)


@shared_task
def tend_all() -> None:
    """Look after every collection that is not a draft; money is settled after the end too."""
    for collection in Collection.objects.exclude(state=CollectionState.DRAFT):
        tend_collection.delay(collection.pk)
