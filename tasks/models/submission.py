"""What a worker handed in, kept raw, and how far its receipt has come."""

from django.db import models

from tasks.models.lease import Lease


class ReceiptState(models.TextChoices):
    """`held`: we have the work; `confirmed`: the provider lists it too, for this worker."""

    HELD = "held", "Handed in, waiting for the marketplace"
    CONFIRMED = "confirmed", "Confirmed by the marketplace"
    APPROVED = "approved", "Approved"
    REFUSED = "refused", "Refused by the marketplace"


class Submission(models.Model):
    """One per lease; `counts` is false for late work whose slot was already given away."""

    lease = models.OneToOneField(Lease, models.PROTECT, related_name="submission")
    raw = models.JSONField()
    receipt = models.CharField(max_length=64, unique=True)
    state = models.CharField(max_length=20, choices=ReceiptState.choices, default=ReceiptState.HELD)
    counts = models.BooleanField(default=True)
    synthetic = models.BooleanField(default=False)
    received_at = models.DateTimeField()
    confirmed_at = models.DateTimeField(null=True, blank=True)
    active_seconds = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["state", "received_at"], name="submission_by_state")]

    def __str__(self) -> str:
        return f"Submission {self.pk}"
