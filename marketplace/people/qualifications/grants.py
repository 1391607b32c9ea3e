"""Gives workers qualifications: one way, whoever or whatever decides."""

from collections.abc import Iterable
from datetime import datetime

from marketplace.models import (
    QualificationGrant,
    QualificationRequest,
    QualificationType,
    Worker,
)
from marketplace.money.funds import account_of


def locked_request(asked: QualificationRequest) -> QualificationRequest | None:
    """Return a request as it is under its lock, None where a merge has dropped it for another.

    Expects a transaction. A merge locks accounts first, then what they asked for: so does this.
    """
    account_of(asked.worker_id)
    return QualificationRequest.objects.select_for_update().filter(pk=asked.pk).first()


def grant(row: QualificationType, worker: Worker, value: int, now: datetime) -> None:
    """Record that the worker has the qualification with this value, from now on."""
    grant_all([(row, worker, value)], now)


def grant_all(given: Iterable[tuple[QualificationType, Worker, int]], now: datetime) -> None:
    """Record many at once, each worker and type named once."""
    QualificationGrant.objects.bulk_create(
        [
            QualificationGrant(
                qualification_type=row, worker=worker, integer_value=value, granted_at=now
            )
            for row, worker, value in given
        ],
        update_conflicts=True,
        unique_fields=["qualification_type", "worker"],
        update_fields=["integer_value", "granted_at", "is_revoked", "reason", "reason_message"],
    )
