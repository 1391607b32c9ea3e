"""A worker's report that something is wrong with a HIT."""

from django.db import models

from tasks.models.lease import Lease
from tasks.models.payment import Payment


class ProblemReport(models.Model):
    """What the worker wrote, until a requester has dealt with it, and what the worker was told.

    `payment` is what they were given for their trouble, `told_at` when the marketplace passed the
    answer on.
    """

    lease = models.ForeignKey(Lease, models.CASCADE, related_name="problem_reports")
    message = models.TextField()
    at = models.DateTimeField()
    resolved_at = models.DateTimeField(null=True, blank=True)
    answer = models.TextField(blank=True)
    answered_by = models.CharField(max_length=150, blank=True)
    answered_at = models.DateTimeField(null=True, blank=True)
    told_at = models.DateTimeField(null=True, blank=True)
    payment = models.ForeignKey(
        Payment, models.PROTECT, null=True, blank=True, related_name="reports"
    )

    class Meta:
        ordering = ["at"]

    def __str__(self) -> str:
        return self.message[:80]
