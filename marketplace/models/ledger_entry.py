"""What money changed meaning, once per cause."""

from django.db import models
from django.db.models import Q

from marketplace.models.requester import Requester
from marketplace.models.worker import Worker


class Kind(models.TextChoices):
    """Why an entry was made."""

    CREDIT = "credit", "credit granted by the host"
    REWARD = "reward", "reward"
    BONUS = "bonus", "bonus"
    PAYOUT = "payout", "paid out"


class LedgerEntry(models.Model):
    """Rewards and bonuses are owed to the worker, payouts settle them, credits fund a requester.

    `key` names the cause (`reward:17`), so that whatever runs twice is entered once. For each
    requester credits = balance + held + rewards + bonuses, at every moment.
    """

    key = models.CharField(max_length=100, unique=True)
    kind = models.CharField(max_length=6, choices=Kind)
    requester = models.ForeignKey(Requester, models.PROTECT, null=True, related_name="entries")
    worker = models.ForeignKey(Worker, models.PROTECT, null=True, related_name="entries")
    amount_cents = models.BigIntegerField()
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(amount_cents__gte=0), name="entry_not_negative"),
        ]
        indexes = [models.Index(fields=["worker", "kind"], name="entry_worker_kind")]

    def __str__(self) -> str:
        return f"{self.key}: {self.amount_cents}"
