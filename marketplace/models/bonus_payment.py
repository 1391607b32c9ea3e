"""A bonus a requester gave a worker for an assignment."""

from django.db import models
from django.db.models import Q

from marketplace.models.assignment import Assignment
from marketplace.models.requester import Requester
from marketplace.models.worker import Worker


class BonusPayment(models.Model):
    """One bonus; the ledger row beside it is what makes it owed."""

    requester = models.ForeignKey(Requester, models.CASCADE, related_name="bonuses")
    worker = models.ForeignKey(Worker, models.PROTECT, related_name="bonuses")
    assignment = models.ForeignKey(Assignment, models.PROTECT, related_name="bonuses")
    amount_cents = models.BigIntegerField()
    reason = models.TextField()
    granted_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(amount_cents__gt=0), name="bonus_is_positive"),
        ]

    def __str__(self) -> str:
        return f"bonus {self.amount_cents} for {self.worker_id}"
