"""A question a worker wrote about a seed."""

from django.db import models

from tasks.models.submission import Submission
from tasks.models.worker import Worker


class Question(models.Model):
    """`payload` holds what one protocol adds: evidence spans and picked links.

    `fold` is copied from the seed, `redundancy` follows from it, `key` names the question by
    its content.
    """

    stage = models.ForeignKey("collector.Stage", models.CASCADE, related_name="questions")
    submission = models.ForeignKey(
        Submission, models.PROTECT, null=True, blank=True, related_name="questions"
    )
    position = models.PositiveSmallIntegerField()
    seed = models.ForeignKey("collector.Seed", models.PROTECT, related_name="questions")
    worker = models.ForeignKey(Worker, models.PROTECT, null=True, related_name="questions")
    key = models.CharField(max_length=64)
    text = models.TextField()
    payload = models.JSONField(default=dict)
    synthetic = models.BooleanField(default=False)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["submission", "position"], name="question_once"),
            models.UniqueConstraint(fields=["stage", "key"], name="question_key_once"),
        ]

    def __str__(self) -> str:
        return self.text
