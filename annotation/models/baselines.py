"""A baseline that is trained on a release, by whichever machine takes it up."""

from django.db import models
from django.db.models import Q


class TrainingState(models.TextChoices):
    """A run is claimed, and free again when whoever claimed it has died."""

    WAITING = "waiting", "Waiting to begin"
    RUNNING = "running", "Being trained"
    DONE = "done", "Trained"
    FAILED = "failed", "Not trained"
    STOPPED = "stopped", "Stopped"


class BaselineRun(models.Model):
    """One baseline, learned from a release's training questions and measured on its dev ones.

    `claim` is the secret of whoever has it, `seen_at` their last sign; `step` what they are at,
    `share_done` of it from 0 to 1, `seconds_left` how long the rest of it takes, if known.
    `scores`: columns, rows and notes as the command `score` shows them. `checksum`: the SHA-256
    of its predictions.
    """

    GOING_ON = (TrainingState.WAITING, TrainingState.RUNNING)

    release = models.ForeignKey("annotation.Release", models.PROTECT, related_name="baseline_runs")
    name = models.CharField(max_length=100)
    recipe = models.CharField(max_length=20)
    seed = models.BigIntegerField()
    state = models.CharField(
        max_length=20, choices=TrainingState.choices, default=TrainingState.WAITING
    )
    attempts = models.PositiveSmallIntegerField(default=0)
    claim = models.CharField(max_length=32, blank=True)
    claimed_by = models.CharField(max_length=200, blank=True)
    seen_at = models.DateTimeField(null=True, blank=True)
    step = models.CharField(max_length=120, blank=True)
    share_done = models.FloatField(default=0)
    seconds_left = models.FloatField(null=True, blank=True)
    scores = models.JSONField(default=dict)
    checksum = models.CharField(max_length=64, blank=True)
    message = models.TextField(blank=True)
    by = models.CharField(max_length=150)
    asked_at = models.DateTimeField()
    began_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-asked_at", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["release", "name", "recipe"],
                condition=Q(state__in=["waiting", "running"]),
                name="baseline_run_one_at_a_time",
            )
        ]

    def __str__(self) -> str:
        return self.get_state_display()
