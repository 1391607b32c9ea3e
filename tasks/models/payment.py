"""The ledger: what is due to a worker, and what the provider confirmed."""

from django.db import models

from tasks.models.lease import Lease
from tasks.models.posting import Posting
from tasks.models.submission import Submission
from tasks.models.worker import Worker

# Who gave a bonus that was paid with our account, but not by us.
ON_MARKETPLACE = "the marketplace"


class PaymentKind(models.TextChoices):
    """What a payment is for."""

    REWARD = "reward", "Reward"
    BONUS = "bonus", "Bonus"
    COMPENSATION = "compensation", "Compensation"


class PaymentState(models.TextChoices):
    """A row first, the provider's call second, its confirmation last.

    What is withheld is not owed: the work was rejected, and the budget has the money back. What is
    refused was a bonus that the marketplace would not carry: a person says how it is paid.
    """

    DUE = "due", "Due"
    CONFIRMED = "confirmed", "Confirmed by the marketplace"
    WITHHELD = "withheld", "Not paid"
    REFUSED = "refused", "Refused by the marketplace"


class Payment(models.Model):
    """One amount in whole cents, once per `key`; no verdict ever touches it.

    What a bonus is for was counted before, without what was dropped.

    `lease` is whose work a bonus is for: it is sent once that is handed in. `by`: who gave a bonus
    that no rule asks for, ON_MARKETPLACE where it was found on the marketplace. `refusal`: the
    marketplace's words, where it refused it.
    """

    collection = models.ForeignKey("collector.Collection", models.PROTECT, related_name="payments")
    stage = models.ForeignKey("collector.Stage", models.PROTECT, related_name="payments")
    worker = models.ForeignKey(Worker, models.PROTECT, related_name="payments")
    submission = models.ForeignKey(
        Submission, models.PROTECT, null=True, blank=True, related_name="payments"
    )
    lease = models.ForeignKey(Lease, models.PROTECT, null=True, blank=True, related_name="bonuses")
    posting = models.ForeignKey(
        Posting, models.PROTECT, null=True, blank=True, related_name="payments"
    )
    kind = models.CharField(max_length=20, choices=PaymentKind.choices)
    amount_cents = models.PositiveIntegerField()
    fee_cents = models.PositiveIntegerField(default=0)
    key = models.CharField(max_length=120, unique=True)
    reason = models.CharField(max_length=500, blank=True)
    by = models.CharField(max_length=150, blank=True)
    refusal = models.CharField(max_length=500, blank=True)
    state = models.CharField(max_length=20, choices=PaymentState.choices, default=PaymentState.DUE)
    created_at = models.DateTimeField()
    confirmed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["state", "created_at"], name="payment_by_state")]

    def __str__(self) -> str:
        return f"{self.get_kind_display()}: {self.amount_cents}"
