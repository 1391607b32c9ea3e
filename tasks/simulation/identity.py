"""Says of a simulated worker that it is one, before it enters its first page."""

from datetime import datetime

from django.db import IntegrityError, transaction

from tasks.crowd import marketplace
from tasks.models import Identity, Worker
from tasks.simulation.pages import StuckError


def introduce(person: str, *, synthetic: bool, now: datetime) -> str:
    """Return the internal id of the marketplace's worker `person`, made now or before.

    Raises StuckError for somebody who has worked here without being simulated.
    """
    if not person:
        raise StuckError("The address in the frame names no worker.")
    known = _identity(person) or _introduced(person, synthetic=synthetic, now=now)
    if synthetic and not known.worker.synthetic:
        raise StuckError(
            "A person has worked under the name of a simulated worker: use another --seed."
        )
    return str(known.worker_id)


def mark_synthetic(worker_id: str) -> None:
    """From now on what the worker hands in is marked as made up."""
    Worker.objects.filter(pk=worker_id).update(synthetic=True)


def _identity(person: str) -> Identity | None:
    return (
        Identity.objects.filter(
            provider=marketplace.PROVIDER, environment=marketplace.environment(), person=person
        )
        .select_related("worker")
        .first()
    )


def _introduced(person: str, *, synthetic: bool, now: datetime) -> Identity:
    try:
        with transaction.atomic():
            return Identity.objects.create(
                provider=marketplace.PROVIDER,
                environment=marketplace.environment(),
                person=person,
                worker=Worker.objects.create(created_at=now, synthetic=synthetic),
            )
    except IntegrityError:
        found = _identity(person)
        assert found is not None
        return found
