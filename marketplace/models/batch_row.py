"""One row of a batch."""

from django.db import models

from marketplace.models.batch import Batch
from marketplace.models.hit import HIT


class BatchRow(models.Model):
    """The values of a row by column, and the HIT made of it."""

    batch = models.ForeignKey(Batch, models.CASCADE, related_name="rows")
    position = models.IntegerField()
    inputs = models.JSONField(default=dict)
    hit = models.OneToOneField(HIT, models.SET_NULL, null=True, related_name="batch_row")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["batch", "position"], name="one_row_per_position"),
        ]

    def __str__(self) -> str:
        return f"row {self.position} of {self.batch_id}"
