"""One payment that the host is to make to a worker."""

from django.db import models
from django.db.models import Q

from marketplace.models.payout import Payout
from marketplace.models.payout_list import PayoutList
from marketplace.models.worker import Worker


class PayoutLine(models.Model):
    """Open until a confirmation comes back (`payout`) or it is taken off the list.

    What stands on an open line is not put on another list.
    """

    payout_list = models.ForeignKey(PayoutList, models.CASCADE, related_name="lines")
    worker = models.ForeignKey(Worker, models.PROTECT, related_name="payout_lines")
    reference = models.CharField(max_length=80, unique=True)
    amount_cents = models.BigIntegerField()
    payout = models.OneToOneField(Payout, models.PROTECT, null=True, related_name="line")
    dropped_at = models.DateTimeField(null=True)

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
