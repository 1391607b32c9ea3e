"""In which split of the dataset a kept question is, and why."""

from django.db import models


class Placement(models.Model):
    """One per kept question: exactly one split."""

    question = models.OneToOneField("tasks.Question", models.CASCADE, related_name="placement")
    split = models.CharField(max_length=40)
    reason = models.CharField(max_length=300)
    placed_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["split"], name="placement_by_split")]

    def __str__(self) -> str:
        return self.split
