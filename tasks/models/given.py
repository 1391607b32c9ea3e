"""An answer that stays as it is before the HIT is handed in."""

from django.db import models

from tasks.models.unit import Unit
from tasks.models.worker import Worker


class Given(models.Model):
    """A worker's answer to a unit's item at `position`; what they were shown next rests on it.

    It belongs to the worker and the unit, as a draft does: a stay that is cut off and begun again
    goes on after it.
    """

    unit = models.ForeignKey(Unit, models.CASCADE, related_name="given")
    worker = models.ForeignKey(Worker, models.CASCADE, related_name="given")
    position = models.PositiveSmallIntegerField()
    answer = models.JSONField()
    at = models.DateTimeField()

    class Meta:
        ordering = ["unit_id", "worker_id", "position"]
        verbose_name_plural = "given"
        constraints = [
            models.UniqueConstraint(fields=["unit", "worker", "position"], name="given_once")
        ]

    def __str__(self) -> str:
        return f"{self.unit_id}/{self.position}"
