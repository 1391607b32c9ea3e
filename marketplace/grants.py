"""Gives workers qualifications: one way, whoever or whatever decides."""

from datetime import datetime

from marketplace.models import QualificationGrant, QualificationType, Worker


def grant(row: QualificationType, worker: Worker, value: int, now: datetime) -> None:
    """Record that the worker has the qualification with this value, from now on."""
    QualificationGrant.objects.update_or_create(
        qualification_type=row,
        worker=worker,
        defaults={"integer_value": value, "granted_at": now, "is_revoked": False, "reason": ""},
    )
