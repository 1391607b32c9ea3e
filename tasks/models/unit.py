"""One bundle of items handed to a worker at a time, with its redundancy and fold."""

from typing import TYPE_CHECKING

from django.db import models
from django.db.models import F, Q

from tasks.models.worker import Worker

if TYPE_CHECKING:
    from collector.models import Seed
    from tasks.models.question import Question


class Unit(models.Model):
    """Ten paragraphs, ten questions, a pair.

    `taken` counts live leases and submissions that count; it never exceeds `redundancy`.
    """

    stage = models.ForeignKey("collector.Stage", models.CASCADE, related_name="units")
    position = models.PositiveIntegerField()
    redundancy = models.PositiveIntegerField()
    taken = models.PositiveIntegerField(default=0)
    submitted = models.PositiveIntegerField(default=0)
    closed = models.BooleanField(default=False)

    class Meta:
        ordering = ["stage_id", "position"]
        indexes = [
            models.Index(
                fields=["stage", "position"],
                condition=Q(closed=False, taken__lt=F("redundancy")),
                name="unit_with_a_free_place",
            )
        ]
        constraints = [
            models.UniqueConstraint(fields=["stage", "position"], name="unit_position_once"),
            models.CheckConstraint(
                condition=Q(taken__lte=F("redundancy")), name="unit_never_overbooked"
            ),
            models.CheckConstraint(
                condition=Q(submitted__lte=F("taken")), name="unit_submissions_were_taken"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.stage} {self.position + 1}"


class UnitItem(models.Model):
    """One item of a unit: a seed to write about, or a question to answer."""

    unit = models.ForeignKey(Unit, models.CASCADE, related_name="items")
    position = models.PositiveSmallIntegerField()
    seed = models.ForeignKey("collector.Seed", models.PROTECT, null=True, related_name="+")
    question = models.ForeignKey("tasks.Question", models.PROTECT, null=True, related_name="+")

    class Meta:
        ordering = ["unit_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["unit", "position"], name="unit_item_position_once"),
            models.CheckConstraint(
                condition=Q(seed__isnull=True) ^ Q(question__isnull=True),
                name="unit_item_is_a_seed_or_a_question",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.unit_id}/{self.position}"

    def the_seed(self) -> "Seed":
        """Return the seed of an item of a question stage."""
        assert self.seed is not None
        return self.seed

    def the_question(self) -> "Question":
        """Return the question of an item of an answer stage."""
        assert self.question is not None
        return self.question


class Exposure(models.Model):
    """That a worker has been shown a seed in a stage of some kind (independence)."""

    worker = models.ForeignKey(Worker, models.CASCADE, related_name="exposures")
    seed = models.ForeignKey("collector.Seed", models.CASCADE, related_name="+")
    kind = models.CharField(max_length=40)
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["worker", "seed", "kind"], name="exposure_once")
        ]

    def __str__(self) -> str:
        return self.kind
