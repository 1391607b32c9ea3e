"""A worker's hold on one slot of a unit until a time, with the draft of what they write."""

from django.db import models
from django.db.models import Q

from tasks.models.posting import Session
from tasks.models.unit import Unit
from tasks.models.worker import Worker


class LeaseState(models.TextChoices):
    """A lease ends once: by submission, by return, or by its time."""

    LIVE = "live", "Being worked on"
    SUBMITTED = "submitted", "Submitted"
    RETURNED = "returned", "Returned"
    EXPIRED = "expired", "Out of time"


class Lease(models.Model):
    """The text versions it names are what the worker was shown.

    `compensated` tells that a lease that ran out of time was looked at, `paid` that its unfinished
    work was paid for: its unit is not handed to that worker again. `reserved_cents` is held for
    what may still come of it once its HIT, and the money of that, went to somebody else.
    """

    unit = models.ForeignKey(Unit, models.PROTECT, related_name="leases")
    worker = models.ForeignKey(Worker, models.PROTECT, related_name="leases")
    session = models.ForeignKey(Session, models.PROTECT, related_name="leases")
    state = models.CharField(max_length=20, choices=LeaseState.choices, default=LeaseState.LIVE)
    taken_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True, blank=True)
    draft = models.JSONField(null=True, blank=True)
    draft_version = models.PositiveIntegerField(default=0)
    draft_saved_at = models.DateTimeField(null=True, blank=True)
    active_seconds = models.PositiveIntegerField(default=0)
    compensated = models.BooleanField(default=False)
    paid = models.BooleanField(default=False)
    reserved_cents = models.PositiveIntegerField(default=0)
    instructions = models.ForeignKey(
        "collector.CollectionText", models.PROTECT, null=True, related_name="+"
    )
    consent_text = models.ForeignKey(
        "collector.CollectionText", models.PROTECT, null=True, related_name="+"
    )

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["state", "expires_at"], name="lease_to_expire")]
        constraints = [
            models.UniqueConstraint(
                fields=["session"],
                condition=Q(state="live"),
                name="lease_live_once_per_session",
            ),
            models.UniqueConstraint(
                fields=["unit", "worker"],
                condition=Q(state__in=["live", "submitted"]),
                name="lease_once_per_unit_and_worker",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.unit}: {self.get_state_display()}"
