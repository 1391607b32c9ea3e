"""A worker's answer to a question."""

from django.db import models
from django.db.models import F, Q

from tasks.models.question import Question
from tasks.models.submission import Submission
from tasks.models.worker import Worker


class Answer(models.Model):
    """`payload` holds spans, value, unit, reason and evidence; the writer never answers.

    One read from published files has neither a submission nor a worker; nor has a correction, which
    the requester `corrected_by` entered in place of the votes: it is released, and no vote.
    """

    question = models.ForeignKey(Question, models.PROTECT, related_name="answers")
    stage = models.ForeignKey("collector.Stage", models.CASCADE, related_name="answers")
    submission = models.ForeignKey(
        Submission, models.PROTECT, null=True, blank=True, related_name="answers"
    )
    worker = models.ForeignKey(
        Worker, models.PROTECT, null=True, blank=True, related_name="answers"
    )
    writer = models.ForeignKey(Worker, models.PROTECT, null=True, related_name="+")
    type = models.CharField(max_length=20)
    payload = models.JSONField(default=dict)
    synthetic = models.BooleanField(default=False)
    corrected_by = models.CharField(max_length=150, blank=True, default="", db_default="")
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["question", "worker"], name="answer_once_per_worker"),
            models.CheckConstraint(
                condition=Q(writer__isnull=True) | ~Q(worker=F("writer")),
                name="answer_not_by_the_writer",
            ),
            models.CheckConstraint(
                condition=Q(corrected_by="") | Q(worker__isnull=True, submission__isnull=True),
                name="answer_corrected_is_no_vote",
            ),
        ]

    def __str__(self) -> str:
        return self.type
