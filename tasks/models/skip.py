"""A seed that nothing good could be made of, and why."""

from django.db import models

from tasks.models.submission import Submission
from tasks.models.worker import Worker


class Skip(models.Model):
    """Handed in, and paid, like what is written; the seed goes to somebody else, or to nobody."""

    stage = models.ForeignKey("collector.Stage", models.CASCADE, related_name="skips")
    submission = models.ForeignKey(Submission, models.PROTECT, related_name="skips")
    seed = models.ForeignKey("collector.Seed", models.PROTECT, related_name="skips")
    worker = models.ForeignKey(Worker, models.PROTECT, related_name="skips")
    reason = models.CharField(max_length=1000)
    synthetic = models.BooleanField(default=False)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["seed", "worker"], name="skip_once")]

    def __str__(self) -> str:
        return self.reason
