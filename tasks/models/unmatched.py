"""An assignment that was handed in on the marketplace while we hold no work for it."""

from typing import TYPE_CHECKING

from django.db import models

from tasks.models.posting import Session
from tasks.models.submission import ReceiptState

if TYPE_CHECKING:
    from tasks.models.payment import Payment


class Unmatched(models.Model):
    """One per assignment, until a person or the marketplace has decided whether it is paid.

    `received_at` and `auto_approval_at` are the marketplace's times; `fields` is what the form
    said that came to it. The states are those of a submission, from `confirmed` on.
    """

    session = models.OneToOneField(Session, models.PROTECT, related_name="unmatched")
    state = models.CharField(
        max_length=20, choices=ReceiptState.choices, default=ReceiptState.CONFIRMED
    )
    fields = models.JSONField(default=dict)
    received_at = models.DateTimeField()
    auto_approval_at = models.DateTimeField()
    found_at = models.DateTimeField()
    refusal = models.CharField(max_length=500, blank=True)

    class Meta:
        ordering = ["received_at", "id"]
        indexes = [models.Index(fields=["state"], name="unmatched_by_state")]
        verbose_name_plural = "unmatched"

    def __str__(self) -> str:
        return f"{self.session.posting}, submitted empty"

    @property
    def payments(self) -> "models.QuerySet[Payment]":
        """Return what is in the ledger for it; bonuses stand apart from it."""
        rewards = self.session.posting.payments.exclude(kind="bonus")
        return rewards.filter(worker=self.session.worker_id)
