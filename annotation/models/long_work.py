"""Long works with rows of their own: trained baselines and rehearsals."""

from datetime import datetime
from typing import Self

from django.db import models
from django.db.models import Exists, Q, QuerySet

from collector.protocols.loading import ProtocolError
from common.long_work import LongWork, WorkState


class BaselineRun(LongWork):
    """One baseline, learned from a release's training questions and measured on its dev ones.

    `seconds_left`: how long the rest of its step takes, if known. `scores`: columns, rows and
    notes as the command `score` shows them. `checksum`: the SHA-256 of its predictions.
    """

    REFUSALS = (*LongWork.REFUSALS, ProtocolError)

    release = models.ForeignKey("annotation.Release", models.PROTECT, related_name="baseline_runs")
    name = models.CharField(max_length=100)
    recipe = models.CharField(max_length=20)
    seed = models.BigIntegerField()
    seconds_left = models.FloatField(null=True, blank=True)
    scores = models.JSONField(default=dict)
    checksum = models.CharField(max_length=64, blank=True)

    class Meta(LongWork.Meta):
        constraints = [
            *LongWork.Meta.constraints,
            models.UniqueConstraint(
                fields=["release", "name", "recipe"],
                condition=Q(state__in=LongWork.GOING_ON),
                name="baseline_run_one_at_a_time",
            ),
        ]


class Rehearsal(LongWork):
    """One walk of simulated workers through a copy of a collection, thrown away afterwards.

    Its claim names the folder of the copy. `findings`: what came of it, see
    annotation.rehearsal.walk.
    """

    REFUSALS = (*LongWork.REFUSALS, ProtocolError)

    collection = models.ForeignKey("collector.Collection", models.CASCADE, related_name="+")
    n_workers = models.PositiveSmallIntegerField()
    findings = models.JSONField(default=dict, blank=True)

    class Meta(LongWork.Meta):
        constraints = [
            *LongWork.Meta.constraints,
            models.UniqueConstraint(
                fields=["collection"],
                condition=Q(state__in=LongWork.GOING_ON),
                name="rehearsal_one_of_a_collection",
            ),
            # Each takes a core or two for minutes: the others wait.
            models.UniqueConstraint(
                fields=["state"], condition=Q(state="running"), name="rehearsal_one_at_a_time"
            ),
        ]

    @classmethod
    def free(cls, now: datetime) -> QuerySet[Self]:
        """Return what finds those that wait while none is under way, or one that died."""
        running = cls.objects.filter(state=WorkState.RUNNING)
        return super().free(now).filter(Q(state=WorkState.RUNNING) | ~Exists(running))


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
