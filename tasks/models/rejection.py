"""A rejection: what one person proposed, what another confirmed, and every step of it."""

from datetime import datetime, timedelta
from typing import Any

from django.db import models
from django.db.models import F, Q

from tasks.models.posting import Session


class RejectionState(models.TextChoices):
    """Proposed, decided by people, then carried out; what is carried out can be taken back."""

    PROPOSED = "proposed", "Proposed"
    WITHDRAWN = "withdrawn", "Withdrawn"
    LAPSED = "lapsed", "Not decided in time"
    AGREED = "agreed", "Agreed, being carried out"
    FAILED = "failed", "Could not be carried out"
    REJECTED = "rejected", "Rejected"
    RESTORING = "restoring", "Being taken back"
    RESTORED = "restored", "Taken back"
    FINAL = "final", "Rejected for good"


# The marketplace lets a rejection be undone for this long after the work was handed in.
TAKEN_BACK_WITHIN = timedelta(days=30)
ELSEWHERE = "another program"
UNDECIDED = (RejectionState.PROPOSED, RejectionState.WITHDRAWN, RejectionState.LAPSED)
OPEN = (
    RejectionState.PROPOSED,
    RejectionState.AGREED,
    RejectionState.REJECTED,
    RejectionState.RESTORING,
    RejectionState.FINAL,
)


class Rejection(models.Model):
    """One proposal to reject one assignment; the worker reads its `reason`.

    `alone_from` is when the one who proposed may confirm as well, `holds_until` how long the
    approval waits for a decision, `take_back_until` how long the marketplace lets it be undone,
    `asked_at` when it was last asked whether it has approved what we rejected.
    """

    session = models.ForeignKey(Session, models.PROTECT, related_name="rejections")
    reason = models.TextField()
    state = models.CharField(
        max_length=20, choices=RejectionState.choices, default=RejectionState.PROPOSED
    )
    proposed_by = models.CharField(max_length=150)
    proposed_at = models.DateTimeField()
    alone_from = models.DateTimeField()
    holds_until = models.DateTimeField()
    confirmed_by = models.CharField(max_length=150, blank=True)
    confirmed_at = models.DateTimeField(null=True, blank=True)
    take_back_until = models.DateTimeField()
    asked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-proposed_at", "-id"]
        indexes = [models.Index(fields=["state"], name="rejection_by_state")]
        constraints = [
            models.UniqueConstraint(
                fields=["session"],
                condition=Q(state__in=OPEN),
                name="rejection_open_once_per_assignment",
            ),
            models.CheckConstraint(condition=~Q(reason=""), name="rejection_has_a_reason"),
            models.CheckConstraint(
                condition=Q(confirmed_at__isnull=True, confirmed_by="", state__in=UNDECIDED)
                | (Q(confirmed_at__isnull=False) & ~Q(confirmed_by="") & ~Q(state__in=UNDECIDED)),
                name="rejection_is_carried_out_when_confirmed",
            ),
            models.CheckConstraint(
                condition=Q(confirmed_at__isnull=True)
                | ~Q(confirmed_by=F("proposed_by"))
                | Q(confirmed_at__gte=F("alone_from")),
                name="rejection_by_two_people_or_a_day_later",
            ),
            models.CheckConstraint(
                condition=Q(confirmed_at__isnull=True) | Q(confirmed_at__lt=F("holds_until")),
                name="rejection_is_confirmed_in_time",
            ),
        ]

    def __str__(self) -> str:
        return self.get_state_display()

    @property
    def elsewhere(self) -> bool:
        """Return whether another program rejected it, with the requester's account."""
        return self.proposed_by == ELSEWHERE

    def advance(
        self,
        to: RejectionState,
        *,
        by: str,
        why: str,
        now: datetime,
        provided: Q = Q(),  # noqa: B008
        **fields: Any,
    ) -> bool:
        """Bring it from the state it was read in to another, and log the step.

        False, and nothing done, if it is in another state by now or not as `provided`. Expects a
        transaction.
        """
        rows = Rejection.objects.filter(provided, pk=self.pk, state=self.state)
        if not rows.update(state=to, **fields):
            return False
        self.state = to
        self.steps.create(state=to, by=by, why=why, at=now)
        return True


class RejectionStep(models.Model):
    """One step of a rejection's way: what it came to be, by whom, when and why; never changed."""

    rejection = models.ForeignKey(Rejection, models.CASCADE, related_name="steps")
    state = models.CharField(max_length=20, choices=RejectionState.choices)
    by = models.CharField(max_length=150)
    at = models.DateTimeField()
    why = models.TextField()

    class Meta:
        ordering = ["at", "id"]

    def __str__(self) -> str:
        return f"{self.get_state_display()} by {self.by}"
