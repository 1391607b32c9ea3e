"""The desk: who signs in, what the host has chosen, and the audit log."""

from datetime import datetime

from django.contrib.auth.hashers import check_password, make_password
from django.db import models
from django.db.models import Q

from marketplace.models.requesters import Requester


class Role(models.TextChoices):
    """What a desk user may do."""

    HOST = "host", "host"
    REQUESTER = "requester", "requester"


class DeskUser(models.Model):
    """A name and a password; requesters' users belong to one requester, hosts to none."""

    name = models.CharField(max_length=80, unique=True)
    # Django's salted hash; empty where nobody signs in by password (the open desk of a laptop).
    password = models.CharField(max_length=128, blank=True)
    role = models.CharField(max_length=9, choices=Role)
    requester = models.ForeignKey(Requester, models.CASCADE, null=True, related_name="desk_users")
    is_active = models.BooleanField(default=True)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(role=Role.HOST, requester__isnull=True)
                | Q(role=Role.REQUESTER, requester__isnull=False),
                name="desk_user_has_its_requester",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def set_password(self, password: str) -> None:
        """Keep the hash of a password; does not save."""
        self.password = make_password(password)

    def has_password(self, password: str) -> bool:
        """Tell whether this is the password; takes as long for users who have none."""
        return check_password(password, self.password or make_password(None))


class DeskSession(models.Model):
    """One signed-in browser; only the digest of its cookie is kept.

    A host may open a requester's desk: `acting_for` is that requester, and the audit log says so.
    """

    user = models.ForeignKey(DeskUser, models.CASCADE, related_name="sessions")
    acting_for = models.ForeignKey(Requester, models.CASCADE, null=True, related_name="+")
    token_digest = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    # One sentence for the next page, shown once.
    notice = models.CharField(max_length=500, blank=True)
    # The page of the requester's own site that one came from, to go back to.
    came_from = models.CharField(max_length=500, blank=True)

    def __str__(self) -> str:
        return f"desk session of {self.user_id}"


class Setting(models.Model):
    """One choice by name; it outranks the same choice in Django's settings (configuration.py)."""

    name = models.CharField(max_length=60, unique=True)
    value = models.JSONField()
    changed_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name


class AuditEntry(models.Model):
    """One sentence per change; never changed and never deleted. It holds no secret and no mail."""

    at = models.DateTimeField()
    who = models.CharField(max_length=220)
    what = models.CharField(max_length=600)

    class Meta:
        indexes = [models.Index(fields=["at"], name="audit_at")]

    def __str__(self) -> str:
        return f"{self.who}: {self.what}"

    @classmethod
    def record(cls, who: str, what: str, now: datetime) -> None:
        """Add one sentence to the log; call it in the transaction that makes the change."""
        cls.objects.create(at=now, who=who[:220], what=what[:600])
