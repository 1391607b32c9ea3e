"""A worker whose work is left out of one collection's dataset."""

from django.db import models
from django.db.models import Q


class Exclusion(models.Model):
    """Since `at` nothing of the worker's is counted or released, until it is taken back."""

    collection = models.ForeignKey(
        "collector.Collection", models.CASCADE, related_name="exclusions"
    )
    worker = models.ForeignKey("tasks.Worker", models.CASCADE, related_name="exclusions")
    why = models.TextField()
    by = models.CharField(max_length=150)
    at = models.DateTimeField()
    back_why = models.TextField(blank=True)
    back_by = models.CharField(max_length=150, blank=True)
    back_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-at", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["collection", "worker"],
                condition=Q(back_at__isnull=True),
                name="exclusion_once_at_a_time",
            )
        ]

    def __str__(self) -> str:
        return f"{self.worker_id} left out of {self.collection}"
