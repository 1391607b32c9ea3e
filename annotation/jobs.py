"""What Celery runs for the requester's side: look now, and find the work in rows."""

from celery import shared_task
from django.utils import timezone

from annotation.dashboard.orders import fulfil, orders_to_fulfil
from annotation.deciding import decide_collection
from annotation.second_reading import sample_questions
from collector.models import Collection, CollectionState


@shared_task
def believe(collection_id: int) -> None:
    """Decide what has enough votes, and sample for the second reading what is decided."""
    collection = Collection.objects.get(pk=collection_id)
    decide_collection(collection, timezone.now())
    if collection.state == CollectionState.COLLECTING:
        sample_questions(collection)


@shared_task
def believe_all() -> None:
    """Look after every collection that is not a draft, and every release asked for.

    Work that was under way is handed in after a pause or the end too.
    """
    for collection in Collection.objects.exclude(state=CollectionState.DRAFT):
        believe.delay(collection.pk)
    for order_id in orders_to_fulfil(timezone.now()):
        fulfil_order.delay(order_id)


@shared_task
def fulfil_order(order_id: int) -> None:
    """Make the release that a requester has asked for."""
    fulfil(order_id, timezone.now())
