"""One acceptance of a HIT by a worker, from accept to decision, and a contest of that."""

from datetime import datetime, timedelta

from django.db import models
from django.db.models import Q

from marketplace.models.hits import HIT
from marketplace.models.identifiers import new_entity_id, new_secret
from marketplace.models.workers import Worker


class AssignmentState(models.TextChoices):
    """Where an acceptance stands."""

    ACCEPTED = "accepted", "in progress"
    SUBMITTED = "submitted", "awaiting approval"
    APPROVED = "approved", "approved"
    REJECTED = "rejected", "rejected"
    RETURNED = "returned", "returned"
    ABANDONED = "abandoned", "time ran out"


LIVE = (
    AssignmentState.ACCEPTED,
    AssignmentState.SUBMITTED,
    AssignmentState.APPROVED,
    AssignmentState.REJECTED,
)
HANDED_IN = (AssignmentState.SUBMITTED, AssignmentState.APPROVED, AssignmentState.REJECTED)


class Assignment(models.Model):
    """An acceptance; `assignment_id` is handed on to the next worker after return or abandonment.

    Requesters know `assignment_id` only, and it names at most one live row. `secret` belongs to
    this acceptance alone, so a form left open by an earlier holder cannot submit for a later one.
    """

    assignment_id = models.CharField(max_length=64, default=new_entity_id)
    hit = models.ForeignKey(HIT, models.CASCADE, related_name="assignments")
    worker = models.ForeignKey(Worker, models.PROTECT, related_name="assignments")
    secret = models.CharField(max_length=64, unique=True, default=new_secret)
    state = models.CharField(
        max_length=9, choices=AssignmentState, default=AssignmentState.ACCEPTED
    )
    # What was promised when it was accepted; a later change of HIT type does not touch it.
    reward_cents = models.BigIntegerField()
    # Kept when the HIT gets another type meanwhile; None = as the type of its HIT says.
    auto_approval_delay_seconds = models.IntegerField(null=True)
    # Names the preview it was accepted in, so that pressing twice is accepting once.
    form_key = models.CharField(max_length=64, blank=True, default="")
    accepted_at = models.DateTimeField()
    deadline = models.DateTimeField()
    # More time is given once, where the HIT type states how much (hits/keywords.py).
    is_extended = models.BooleanField(default=False)
    submitted_at = models.DateTimeField(null=True)
    auto_approval_at = models.DateTimeField(null=True)
    approved_at = models.DateTimeField(null=True)
    rejected_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    answer = models.TextField(blank=True)
    # What arrived too late to count, kept so that nothing a worker wrote is lost.
    late_answer = models.TextField(blank=True)
    feedback = models.CharField(max_length=1024, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["hit", "worker"],
                condition=Q(state__in=LIVE),
                name="one_live_assignment_per_worker_and_hit",
            ),
            models.UniqueConstraint(
                fields=["assignment_id"],
                condition=Q(state__in=LIVE),
                name="one_live_holder_per_assignment_id",
            ),
            models.UniqueConstraint(
                fields=["worker", "form_key"],
                condition=Q(state__in=LIVE) & ~Q(form_key=""),
                name="one_live_assignment_per_form",
            ),
            models.CheckConstraint(
                condition=Q(state__in=AssignmentState.values), name="assignment_state_is_known"
            ),
            models.CheckConstraint(
                condition=~Q(state__in=HANDED_IN)
                | Q(submitted_at__isnull=False, auto_approval_at__isnull=False),
                name="handed_in_has_its_times",
            ),
        ]
        indexes = [
            models.Index(fields=["hit", "state"], name="assignment_hit_state"),
            # Requesters read what was handed in page by page, in the order it came.
            models.Index(fields=["hit", "submitted_at", "id"], name="assignment_hit_order"),
            models.Index(fields=["worker", "state"], name="assignment_worker_state"),
            models.Index(fields=["assignment_id"], name="assignment_external"),
        ]

    def __str__(self) -> str:
        return f"{self.assignment_id} ({self.state})"

    @property
    def approval_said_at(self) -> datetime | None:
        """Return when its requester approves it as its HIT type says; None where that is unsaid."""
        minutes = self.hit.hit_type.stated.rejected_within_minutes
        if not minutes or not self.submitted_at or not self.auto_approval_at:
            return None
        return min(self.submitted_at + timedelta(minutes=minutes), self.auto_approval_at)


class Contest(models.Model):
    """One per assignment; without an answer by `due_at` the rejected work is approved.

    `answered_at` is set by the requester's answer; approved work needs none.
    """

    assignment = models.OneToOneField(Assignment, models.CASCADE, related_name="contest")
    text = models.CharField(max_length=2000)
    raised_at = models.DateTimeField()
    due_at = models.DateTimeField()
    answered_at = models.DateTimeField(null=True)
    answer = models.CharField(max_length=1024, blank=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["due_at"], condition=Q(answered_at=None), name="contest_unanswered"
            ),
        ]

    def __str__(self) -> str:
        return f"contest of {self.assignment_id}"
