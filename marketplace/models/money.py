"""The ledger, bonuses, and payments that the host makes outside."""

from django.db import models
from django.db.models import Q

from marketplace.models.hits import Assignment
from marketplace.models.people import PayoutWay, Worker
from marketplace.models.requesters import Requester


class LedgerKind(models.TextChoices):
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
    kind = models.CharField(max_length=6, choices=LedgerKind)
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


class PayoutList(models.Model):
    """Its lines are fixed when it is made, so that it can be downloaded any number of times."""

    made_at = models.DateTimeField()
    made_by = models.CharField(max_length=80)

    def __str__(self) -> str:
        return f"list {self.pk}"


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


class PayoutLine(models.Model):
    """Open until a confirmation comes back (`payout`) or it is taken off the list.

    What stands on an open line is not put on another list. Where its money goes is kept with the
    line (`handle_at`: since when; None = nobody has said): a worker who says another way meanwhile
    stands in no second file.
    """

    payout_list = models.ForeignKey(PayoutList, models.CASCADE, related_name="lines")
    worker = models.ForeignKey(Worker, models.PROTECT, related_name="payout_lines")
    reference = models.CharField(max_length=80, unique=True)
    amount_cents = models.BigIntegerField()
    payout = models.OneToOneField(Payout, models.PROTECT, null=True, related_name="line")
    dropped_at = models.DateTimeField(null=True)
    pay_by = models.CharField(max_length=6, choices=PayoutWay, blank=True, default="")
    pay_to = models.CharField(max_length=254, blank=True, default="")
    pay_name = models.CharField(max_length=80, blank=True, default="")
    handle_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(amount_cents__gt=0), name="line_is_positive"),
            models.UniqueConstraint(
                fields=["worker"],
                condition=Q(payout=None, dropped_at=None),
                name="one_open_payout_line_per_worker",
            ),
        ]

    def __str__(self) -> str:
        return self.reference

    @property
    def is_open(self) -> bool:
        """Return whether it is still to pay."""
        return self.payout_id is None and self.dropped_at is None


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
