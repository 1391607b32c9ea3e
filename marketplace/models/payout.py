"""A payment the host says it has made to a worker outside the marketplace."""

from django.db import models
from django.db.models import Q

from marketplace.models.worker import Worker


class Payout(models.Model):
    """Date, method and reference of money that reached a worker; a reference counts once."""

    worker = models.ForeignKey(Worker, models.PROTECT, related_name="payouts")
    amount_cents = models.BigIntegerField()
    paid_on = models.DateField()
    method = models.CharField(max_length=80)
    reference = models.CharField(max_length=80, unique=True)
    recorded_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(amount_cents__gt=0), name="payout_is_positive"),
        ]

    def __str__(self) -> str:
        return self.reference
