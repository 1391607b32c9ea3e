"""A worker's report that something is wrong with a HIT."""

from django.db import models

from tasks.models.lease import Lease


class ProblemReport(models.Model):
    """What the worker wrote, until a requester has dealt with it."""

    lease = models.ForeignKey(Lease, models.CASCADE, related_name="problem_reports")
    message = models.TextField()
    at = models.DateTimeField()
    resolved_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["at"]

    def __str__(self) -> str:
        return self.message[:80]
