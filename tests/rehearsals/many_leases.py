"""Writes the leases of thousands of people, whom coming one by one would take minutes."""

from datetime import timedelta
from uuid import uuid4

from django.utils import timezone

from collector.models import Stage
from tasks.models import Identity, Lease, LeaseState, Posting, Session, Unit, Worker
from tasks.models.people import new_worker_id


def put_leases(
    stage: Stage, posting: Posting, positions: range, state: str = LeaseState.LIVE
) -> list[Lease]:
    """Return the leases of new people who work for three hours, on a new unit at each position."""
    now = timezone.now()
    ends = now + timedelta(hours=3)
    where = {"provider": posting.provider, "environment": posting.environment}
    workers = Worker.objects.bulk_create(
        Worker(id=new_worker_id(), created_at=now) for _ in positions
    )
    Identity.objects.bulk_create(
        Identity(worker=worker, person=worker.pk, **where) for worker in workers
    )
    units = Unit.objects.bulk_create(
        Unit(stage=stage, position=position, redundancy=1, taken=1) for position in positions
    )
    sessions = Session.objects.bulk_create(
        Session(
            **where,
            person=worker.pk,
            session_id=uuid4().hex,
            worker=worker,
            posting=posting,
            submit_url="http://127.0.0.1:9/",
            started_at=now,
            signed_until=ends,
        )
        for worker in workers
    )
    return Lease.objects.bulk_create(
        Lease(unit=unit, worker=worker, session=session, state=state, taken_at=now, expires_at=ends)
        for unit, worker, session in zip(units, workers, sessions, strict=True)
    )
