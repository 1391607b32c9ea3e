"""A requester's wish for a release, until a job has fulfilled it."""

from django.db import models
from django.db.models import Q


class OrderState(models.TextChoices):
    """Where the wish stands; a job takes what waits."""

    WAITING = "waiting", "Waiting to begin"
    RUNNING = "running", "Being made"
    DONE = "done", "Done"
    FAILED = "failed", "Not made"


class ReleaseOrder(models.Model):
    """`step` says what the job is at; `message` how it ended.

    `claim` is the secret of the job that has it, `seen_at` when that last gave a sign; one that
    has been silent too long is begun again by another.
    """

    collection = models.ForeignKey(
        "collector.Collection", models.CASCADE, related_name="release_orders"
    )
    state = models.CharField(max_length=20, choices=OrderState.choices, default=OrderState.WAITING)
    step = models.CharField(max_length=120, blank=True)
    message = models.TextField(blank=True)
    release = models.ForeignKey(
        "annotation.Release", models.PROTECT, null=True, blank=True, related_name="orders"
    )
    by = models.CharField(max_length=150)
    claim = models.CharField(max_length=32, blank=True)
    asked_at = models.DateTimeField()
    seen_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-asked_at", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["collection"],
                condition=Q(state__in=["waiting", "running"]),
                name="release_order_one_at_a_time",
            )
        ]

    def __str__(self) -> str:
        return self.get_state_display()
