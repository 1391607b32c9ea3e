"""Writes the audit log: one sentence for every change that the host or a requester makes."""

from datetime import datetime

from marketplace.models import AuditEntry


def record(who: str, what: str, now: datetime) -> None:
    """Add one sentence to the log; call it in the transaction that makes the change."""
    AuditEntry.objects.create(at=now, who=who[:220], what=what[:600])
