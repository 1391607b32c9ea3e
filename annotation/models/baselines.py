"""A baseline that is trained on a release, by whichever machine takes it up."""

from django.db import models
from django.db.models import Q

from collector.protocols.loading import ProtocolError
from common.long_work import LongWork


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
