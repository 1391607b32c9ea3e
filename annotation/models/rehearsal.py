"""A rehearsal of a collection by simulated workers, and the pages that they saw."""

from django.db import models
from django.db.models import Q


class RehearsalState(models.TextChoices):
    """A job claims what waits; what a dead one left has failed."""

    WAITING = "waiting", "Waiting to begin"
    RUNNING = "running", "Being rehearsed"
    DONE = "done", "Rehearsed"
    FAILED = "failed", "Not rehearsed"
    STOPPED = "stopped", "Stopped"


class Rehearsal(models.Model):
    """One walk of simulated workers through a copy of a collection, thrown away afterwards.

    `claim` is the secret of whoever has it and names the folder of the copy, `seen_at` their last
    sign; `step` what they are at, `share_done` of all from 0 to 1. `findings`: what came of it, see
    annotation.rehearsal.findings.
    """

    GOING_ON = (RehearsalState.WAITING, RehearsalState.RUNNING)

    collection = models.ForeignKey("collector.Collection", models.CASCADE, related_name="+")
    n_workers = models.PositiveSmallIntegerField()
    state = models.CharField(
        max_length=20, choices=RehearsalState.choices, default=RehearsalState.WAITING
    )
    claim = models.CharField(max_length=32, blank=True)
    seen_at = models.DateTimeField(null=True, blank=True)
    step = models.CharField(max_length=120, blank=True)
    share_done = models.FloatField(default=0)
    findings = models.JSONField(default=dict, blank=True)
    message = models.TextField(blank=True)
    by = models.CharField(max_length=150)
    asked_at = models.DateTimeField()
    began_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-asked_at", "-id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=RehearsalState.values), name="rehearsal_state_is_known"
            ),
            models.UniqueConstraint(
                fields=["collection"],
                condition=Q(state__in=["waiting", "running"]),
                name="rehearsal_one_of_a_collection",
            ),
            # Each takes a core or two for minutes: the others wait.
            models.UniqueConstraint(
                fields=["state"], condition=Q(state="running"), name="rehearsal_one_at_a_time"
            ),
        ]

    def __str__(self) -> str:
        return self.get_state_display()


class RehearsalPage(models.Model):
    """A page as a simulated worker saw it; `moment` says when, `note` what it said besides.

    `is_work`: a page of work, which its own scripts draw; the others are plain HTML.
    """

    rehearsal = models.ForeignKey(Rehearsal, models.CASCADE, related_name="pages")
    position = models.PositiveSmallIntegerField()
    stage = models.CharField(max_length=80, blank=True)
    moment = models.CharField(max_length=80)
    note = models.TextField(blank=True)
    html = models.TextField()
    is_work = models.BooleanField(default=False)

    class Meta:
        ordering = ["rehearsal_id", "position"]
        constraints = [
            models.UniqueConstraint(
                fields=["rehearsal", "position"], name="rehearsal_page_position_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.stage} {self.moment}".strip()
