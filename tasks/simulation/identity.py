"""Says of a simulated worker that it is one, before it enters its first page."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.core import signing
from django.db import IntegrityError, transaction

from tasks.crowd import marketplace
from tasks.models import Answer, Identity, Submission, UnitItem, Worker
from tasks.models.people import new_worker_id
from tasks.people.lease_context import LEASE_SALT
from tasks.simulation.browser import StuckError

# The key of a stored payload with the names of its fields that nobody said.
SYNTHETIC_FIELDS = "synthetic_fields"


def introduce(person: str, *, synthetic: bool, now: datetime, worker_id: str = "") -> str:
    """Return the internal id of the marketplace's worker `person`, made now or before.

    worker_id: the id for somebody new, where it is not for chance to choose. Raises StuckError
    for somebody who has worked here without being simulated.
    """
    if not person:
        raise StuckError("The address in the frame names no worker.")
    known = _identity(person) or _introduced(
        person, Worker(id=worker_id or new_worker_id(), created_at=now, synthetic=synthetic)
    )
    if synthetic and not known.worker.synthetic:
        raise StuckError(
            "A person has worked under the name of a simulated worker: use another --seed."
        )
    return str(known.worker_id)


def mark_synthetic(worker_id: str) -> None:
    """From now on what the worker hands in is marked as made up."""
    Worker.objects.filter(pk=worker_id).update(synthetic=True)


def mark_answers_synthetic(token: str, positions: Collection[int]) -> None:
    """Mark the answers to some items of one HIT as made up, those of its page with this token.

    positions: the items' places on the page, from 0.
    """
    lease, worker = signing.loads(token, salt=LEASE_SALT)
    items = UnitItem.objects.filter(unit__leases=lease, position__in=positions)
    made_up = Answer.objects.filter(submission__lease=lease, worker=worker)
    made_up.filter(question__in=items.values("question")).update(synthetic=True)


def mark_fields_synthetic(token: str, fields: Sequence[str]) -> None:
    """Mark these fields of every answer of one HIT, that of the page with this token."""
    lease, worker = signing.loads(token, salt=LEASE_SALT)
    answers = list(Answer.objects.filter(submission__lease=lease, worker=worker))
    for answer in answers:
        answer.payload = marked(answer.payload, fields)
    Answer.objects.bulk_update(answers, ["payload"])


def forget_times(worker_ids: Collection[str]) -> None:
    """Forget how long these workers took: to type real work again says nothing of people."""
    Submission.objects.filter(lease__worker__in=worker_ids).update(active_seconds=0)


def _identity(person: str) -> Identity | None:
    return (
        Identity.objects.filter(
            provider=marketplace.PROVIDER, environment=marketplace.environment(), person=person
        )
        .select_related("worker")
        .first()
    )


def _introduced(person: str, worker: Worker) -> Identity:
    try:
        with transaction.atomic():
            worker.save(force_insert=True)
            return Identity.objects.create(
                provider=marketplace.PROVIDER,
                environment=marketplace.environment(),
                person=person,
                worker=worker,
            )
    except IntegrityError:
        found = _identity(person)
        assert found is not None
        return found


def made_up(payload: Mapping[str, Any]) -> list[str]:
    """Return the names of the fields that a simulation filled in."""
    return list(payload.get(SYNTHETIC_FIELDS) or ())


def genuine(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return the payload without those fields, and without the mark."""
    left_out = {SYNTHETIC_FIELDS, *made_up(payload)}
    return {name: value for name, value in payload.items() if name not in left_out}


def marked(payload: Mapping[str, Any], fields: Sequence[str]) -> dict[str, Any]:
    """Return the payload with these fields marked."""
    return {**payload, SYNTHETIC_FIELDS: list(fields)}
