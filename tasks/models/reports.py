"""What workers report: something wrong with a HIT, or with a partner in a dialog."""

from django.db import models

from tasks.models.dialog import Dialog
from tasks.models.money import Payment
from tasks.models.people import Worker
from tasks.models.work import Lease


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


class ReportDecision(models.TextChoices):
    """What a person has made of a report; none of it changes what anybody is paid."""

    NOTHING = "nothing", "Nothing to do"
    WARN = "warn", "Warned"
    WITHDRAW = "withdraw", "Qualification withdrawn"


class PartnerReport(models.Model):
    """What one partner says of the other; a person reads it, and the two never meet again.

    `words` are what the requester tells the reported worker, `told_at` since when the provider
    has passed them on.
    """

    dialog = models.ForeignKey(Dialog, models.CASCADE, related_name="reports")
    reporter = models.ForeignKey(Worker, models.CASCADE, related_name="+")
    reported = models.ForeignKey(Worker, models.CASCADE, related_name="reports_of_partners")
    reason = models.CharField(max_length=40)
    note = models.CharField(max_length=500, blank=True)
    at = models.DateTimeField()
    decision = models.CharField(max_length=40, choices=ReportDecision.choices, blank=True)
    decided_by = models.CharField(max_length=150, blank=True)
    decided_at = models.DateTimeField(null=True, blank=True)
    words = models.CharField(max_length=500, blank=True)
    told_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["dialog", "reporter"], name="partner_reported_once")
        ]

    def __str__(self) -> str:
        return self.reason
