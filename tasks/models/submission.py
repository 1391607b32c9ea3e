"""What a worker handed in, kept raw, and how far its receipt has come."""

from django.db import models

from tasks.models.lease import Lease
from tasks.models.posting import Session


class ReceiptState(models.TextChoices):
    """`held`: we have the work; `confirmed`: the provider lists it too, for this worker.

    What is confirmed is either taken by an approval or by a proposal to reject it: each takes it
    with one conditional update, so that one of them wins.
    """

    HELD = "held", "Handed in, waiting for the marketplace"
    CONFIRMED = "confirmed", "Waiting to be paid"
    APPROVING = "approving", "Being paid"
    APPROVED = "approved", "Paid"
    REFUSED = "refused", "The marketplace refused to pay it"
    DISPUTED = "disputed", "Rejection proposed"
    REJECTED = "rejected", "Rejected"


class Submission(models.Model):
    """One per lease; `counts` is false for late work whose slot was already given away.

    `refusal` is what the marketplace said when it would not approve it.
    """

    lease = models.OneToOneField(Lease, models.PROTECT, related_name="submission")
    raw = models.JSONField()
    receipt = models.CharField(max_length=64, unique=True)
    state = models.CharField(max_length=20, choices=ReceiptState.choices, default=ReceiptState.HELD)
    counts = models.BooleanField(default=True)
    synthetic = models.BooleanField(default=False)
    received_at = models.DateTimeField()
    confirmed_at = models.DateTimeField(null=True, blank=True)
    active_seconds = models.PositiveIntegerField(default=0)
    refusal = models.CharField(max_length=500, blank=True)

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["state", "received_at"], name="submission_by_state")]

    def __str__(self) -> str:
        return f"Submission {self.pk}"

    @property
    def session(self) -> Session:
        """Return the assignment it was handed in with."""
        return self.lease.session
