"""A worker's word against a rejection."""

from django.db import models
from django.db.models import Q

from marketplace.models.assignment import Assignment


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
