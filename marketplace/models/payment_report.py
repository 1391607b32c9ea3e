"""A worker saying that a payment is missing or wrong."""

from django.db import models

from marketplace.models.worker import Worker


class PaymentReport(models.Model):
    """Read and answered at the host's desk; `owed_cents` is what was owed when it was written."""

    worker = models.ForeignKey(Worker, models.PROTECT, related_name="payment_reports")
    text = models.CharField(max_length=2000)
    owed_cents = models.BigIntegerField()
    reported_at = models.DateTimeField()
    answer = models.CharField(max_length=2000, blank=True)
    answered_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"report {self.pk} of {self.worker_id}"
