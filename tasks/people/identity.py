"""Who a person of a provider is here: a worker, whose id says nothing about them."""

from datetime import datetime

from tasks.crowd import marketplace
from tasks.models import Identity, Worker


def worker_known_as(person: str, now: datetime) -> Worker:
    """Return the worker whom the marketplace calls `person`, a new one on first sight.

    Expects a transaction.
    """
    here = {"provider": marketplace.PROVIDER, "environment": marketplace.environment()}
    identity = Identity.objects.select_related("worker").filter(**here, person=person).first()
    if identity is None:
        worker = Worker.objects.create(created_at=now)
        identity, made = Identity.objects.get_or_create(
            **here, person=person, defaults={"worker": worker}
        )
        if not made:
            worker.delete()
    return identity.worker
