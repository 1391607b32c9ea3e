"""Whom a stage has no work for, and what the marketplace has been told of it."""

from django.db import models

from tasks.models.worker import Worker


class Gate(models.Model):
    """The marketplace's qualification types by which it knows who can take a stage's HITs.

    `entry_id` is held by whoever has one of the qualifications that will do, `closed_id` by whoever
    the stage has nothing for. Empty until they exist.
    """

    stage = models.OneToOneField("collector.Stage", models.CASCADE, related_name="gate")
    entry_id = models.CharField(max_length=64, blank=True)
    closed_id = models.CharField(max_length=64, blank=True)

    def __str__(self) -> str:
        return f"Gate: {self.stage}"


class Eligibility(models.Model):
    """Whether a stage has nothing for a worker at present; without a row it has."""

    stage = models.ForeignKey("collector.Stage", models.CASCADE, related_name="eligibilities")
    worker = models.ForeignKey(Worker, models.CASCADE, related_name="eligibilities")
    is_closed = models.BooleanField(default=True)
    told_closed = models.BooleanField(default=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["stage", "worker"], name="eligibility_once")]
        indexes = [
            models.Index(
                fields=["stage"],
                condition=~models.Q(is_closed=models.F("told_closed")),
                name="eligibility_untold",
            )
        ]

    def __str__(self) -> str:
        return "Closed" if self.is_closed else "Open"
